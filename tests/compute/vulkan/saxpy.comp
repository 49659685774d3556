#version 450
// y = s * x + y in single precision.
layout(local_size_x = 40) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform P { float s; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  y[i] = s * x[i] + y[i];
}
