// Counts bytes: in local memory first, then added to the global counts by atomics.
__kernel void histogram(__global const uchar* in, uint count, __global uint* bins, __local uint* mine) {
  const uint l = get_local_id(0), size = get_local_size(0);
  for (uint i = l; i < 256; i += size) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&mine[in[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = l; i < 256; i += size) {
    if (mine[i] != 0) atomic_add(&bins[i], mine[i]);
  }
}
