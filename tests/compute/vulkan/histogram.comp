#version 450
// Counts values below 256: in shared memory first, then added to the global counts by atomics.
layout(local_size_x = 128) in;
layout(binding = 0) buffer In { uint values[]; };
layout(binding = 1) buffer Bins { uint bins[]; };
layout(push_constant) uniform P { uint count; };
shared uint mine[256];
void main() {
  uint l = gl_LocalInvocationID.x;
  for (uint i = l; i < 256; i += 128) mine[i] = 0;
  barrier();
  for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * 128) atomicAdd(mine[values[i]], 1u);
  barrier();
  for (uint i = l; i < 256; i += 128) {
    if (mine[i] != 0) atomicAdd(bins[i], mine[i]);
  }
}
