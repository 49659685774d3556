#version 450
// Inclusive prefix sum of one group's items, by doubling steps in shared memory.
layout(local_size_x = 256) in;
layout(binding = 0) buffer In { uint values[]; };
layout(binding = 1) buffer Out { uint sums[]; };
shared uint line[256];
void main() {
  uint l = gl_LocalInvocationID.x, i = gl_GlobalInvocationID.x;
  line[l] = values[i];
  barrier();
  for (uint step_by = 1; step_by < 256; step_by *= 2) {
    uint add = l >= step_by ? line[l - step_by] : 0;
    barrier();
    line[l] += add;
    barrier();
  }
  sums[i] = line[l];
}
