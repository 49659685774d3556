#version 450
// Counts the steps until a point leaves the circle of radius 2; REAL is float or double. `precise`: every operation
// rounds.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) buffer Steps { uint steps[]; };
layout(push_constant) uniform P { REAL left; REAL top; REAL pitch; uint width; uint limit; };
void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
  precise REAL cr = left + pitch * REAL(x), ci = top + pitch * REAL(y);
  precise REAL r = REAL(0), i = REAL(0), rr = REAL(0), ii = REAL(0);
  uint n = 0;
  while (n < limit && rr + ii <= REAL(4)) {
    precise REAL next = rr - ii + cr;
    i = REAL(2) * r * i + ci;
    r = next;
    rr = r * r;
    ii = i * i;
    ++n;
  }
  steps[y * width + x] = n;
}
