// Exclusive prefix sum of one group's items, by sweeps up and down a tree in local memory.
__kernel void prefix_sum(__global const uint* in, __global uint* out, __local uint* tree) {
  const uint l = get_local_id(0), n = 2 * get_local_size(0);
  const uint base = get_group_id(0) * n;
  tree[2 * l] = in[base + 2 * l];
  tree[2 * l + 1] = in[base + 2 * l + 1];
  uint step = 1;
  for (uint d = n / 2; d > 0; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) tree[step * (2 * l + 2) - 1] += tree[step * (2 * l + 1) - 1];
    step *= 2;
  }
  if (l == 0) tree[n - 1] = 0;
  for (uint d = 1; d < n; d *= 2) {
    step /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) {
      const uint left = step * (2 * l + 1) - 1, right = step * (2 * l + 2) - 1, t = tree[left];
      tree[left] = tree[right];
      tree[right] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + 2 * l] = tree[2 * l];
  out[base + 2 * l + 1] = tree[2 * l + 1];
}
