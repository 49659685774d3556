// c = a + b over a range that is no multiple of the group's size, with an offset.
__kernel void vector_add(__global const int* a, __global const int* b, __global int* c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
