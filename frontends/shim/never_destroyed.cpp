// Static objects of this library are never destroyed, because the device works while exit(3) runs, and exit handlers of
// programs call it. All code linked into the library registers destructors by this symbol, which is not visible
// outside.
extern "C" {
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_atexit(void (* /*destroy*/)(void*), void* /*object*/, void* /*library*/) {
  return 0;
}
}
