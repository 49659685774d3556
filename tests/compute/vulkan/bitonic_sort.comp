#version 450
// One step of a bitonic sort of signed numbers; the host calls it for every pair of distances.
layout(local_size_x = 64) in;
layout(binding = 0) buffer Data { int data[]; };
layout(push_constant) uniform P { uint distance_; uint block; };
void main() {
  uint i = gl_GlobalInvocationID.x, other = i ^ distance_;
  if (other <= i) return;
  int a = data[i], b = data[other];
  if ((a > b) == ((i & block) == 0)) {
    data[i] = b;
    data[other] = a;
  }
}
