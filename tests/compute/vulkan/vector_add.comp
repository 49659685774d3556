#version 450
// c = a + b.
layout(local_size_x = 64) in;
layout(binding = 0) buffer A { int a[]; };
layout(binding = 1) buffer B { int b[]; };
layout(binding = 2) buffer C { int c[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  c[i] = a[i] + b[i];
}
