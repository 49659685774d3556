#version 450
// Reads the texels of an image as words, with red in the lowest byte.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) buffer Texels { uint texels[]; };
layout(binding = 1, rgba8ui) readonly uniform uimage2D from;
void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  uvec4 texel = imageLoad(from, ivec2(at));
  texels[at.y * gl_NumWorkGroups.x * 8 + at.x] = texel.x | texel.y << 8 | texel.z << 16 | texel.w << 24;
}
