// c = a + b over a range with an offset whose size is not a multiple of the group size.
__kernel void vector_add(__global const int* a, __global const int* b, __global int* c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
