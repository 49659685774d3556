// One step of a bitonic sort of signed numbers; the host calls it for every pair of distances.
__kernel void bitonic_sort(__global int* data, uint distance, uint block) {
  const uint i = get_global_id(0), other = i ^ distance;
  if (other <= i) return;
  const int a = data[i], b = data[other];
  const bool up = (i & block) == 0;
  if ((a > b) == up) {
    data[i] = b;
    data[other] = a;
  }
}
