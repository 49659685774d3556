// Objects with static lifetime of this library are never destroyed: the device goes on working while exit(3) runs, and
// programs' own exit handlers call it. All code that is linked into the library registers destructors by this name,
// which nothing outside sees.
extern "C" {
int __cxa_atexit(void (*)(void*), void*, void*);  // NOLINT(bugprone-reserved-identifier)
int __cxa_atexit(void (* /*destroy*/)(void*), void* /*object*/,
                 void* /*library*/) {  // NOLINT(bugprone-reserved-identifier)
  return 0;
}
}
