#version 450
layout(location = 0) in vec3 place;
layout(location = 1) in vec4 tint;
layout(location = 2) in vec2 at;
layout(push_constant) uniform Constants {
  mat4 turn;
};
layout(location = 0) out vec4 colour;
layout(location = 1) out vec2 texel;
void main() {
  gl_Position = turn * vec4(place, 1);
  colour = tint;
  texel = at;
}
