#version 450
#extension GL_EXT_multiview : require
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 tint;
layout(location = 2) in vec2 at;
layout(push_constant) uniform Constants {
  mat4 turn;
};
layout(location = 0) out vec4 colour;
layout(location = 1) out vec2 texel;
out gl_PerVertex {
  vec4 gl_Position;
  float gl_ClipDistance[1];
};
void main() {
  // Only the position depends on the view. The last view reaches over an edge of the picture.
  vec4 there = turn * vec4(place, 1);
  float side = float(gl_ViewIndex) - 2.5;
  gl_Position = vec4(there.x + side * 0.8, there.y + side * side * 0.2, there.z, there.w);
  gl_ClipDistance[0] = place.x + place.y + 1.25;
  colour = tint;
  texel = at;
}
