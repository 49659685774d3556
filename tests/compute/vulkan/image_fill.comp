#version 450
// Fills an image with texels that depend on their coordinates.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8ui) writeonly uniform uimage2D to;
void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  imageStore(to, ivec2(at), uvec4(at.x, at.y, at.x * 3 + at.y, 255 - at.x) & 255u);
}
