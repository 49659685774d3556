#version 450
// Each group adds its items in shared memory and writes one sum.
layout(local_size_x = 256) in;
layout(binding = 0) buffer In { uint values[]; };
layout(binding = 1) buffer Sums { uint sums[]; };
shared uint part[256];
void main() {
  uint l = gl_LocalInvocationID.x;
  part[l] = values[gl_GlobalInvocationID.x];
  barrier();
  for (uint reach = 128; reach > 0; reach /= 2) {
    if (l < reach) part[l] += part[l + reach];
    barrier();
  }
  if (l == 0) sums[gl_WorkGroupID.x] = part[0];
}
