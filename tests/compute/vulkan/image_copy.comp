#version 450
// Transposes an image and rotates its channels by one.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8ui) readonly uniform uimage2D from;
layout(binding = 1, rgba8ui) writeonly uniform uimage2D to;
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  imageStore(to, at, imageLoad(from, at.yx).wxyz);
}
