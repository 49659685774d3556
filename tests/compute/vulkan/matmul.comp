#version 450
// c = a * b of n x n numbers in tiles of 16 x 16, through shared memory.
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 1) buffer B { float b[]; };
layout(binding = 2) buffer C { float c[]; };
layout(push_constant) uniform P { int n; };
shared float ta[16][16], tb[16][16];
void main() {
  int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
  int col = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + col];
    barrier();
    for (int k = 0; k < 16; ++k) sum += ta[y][k] * tb[k][x];
    barrier();
  }
  c[row * n + col] = sum;
}
