#version 450
#extension GL_EXT_multiview : require
layout(location = 0) in vec4 colour;
layout(location = 1) in vec2 texel;
layout(location = 0) out vec4 pixel;
void main() {
  float view = float(gl_ViewIndex) / 8;
  pixel = vec4(colour.rgb * (1 - view), 1) + vec4(0, texel.x / 8, view, 0);
}
