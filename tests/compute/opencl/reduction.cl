// Each group adds its items in local memory and writes one sum.
__kernel void reduction(__global const uint* in, __global uint* sums, __local uint* part) {
  const uint l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
    if (l < reach) part[l] += part[l + reach];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) sums[get_group_id(0)] = part[0];
}
