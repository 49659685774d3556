#version 450
// Three spheres on a chequered floor: one ray per pixel, with shadows and one reflection.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) buffer Picture { uint picture[]; };
layout(push_constant) uniform P { uint width; uint height; };
const vec4 balls[3] = vec4[](vec4(-1.3, 1.0, 4.0, 1.0), vec4(0.9, 0.7, 3.2, 0.7), vec4(0.2, 1.6, 6.0, 1.6));
const vec3 paints[3] = vec3[](vec3(0.9, 0.2, 0.2), vec3(0.2, 0.5, 0.9), vec3(0.9, 0.8, 0.3));

// Distance to the nearest object; its index: 0 to 2 are spheres, 3 is the floor, -1 is nothing.
float meet(vec3 from, vec3 along, out int what) {
  float nearest = 1e9;
  what = -1;
  for (int i = 0; i < 3; ++i) {
    vec3 to = balls[i].xyz - from;
    float b = dot(to, along), c = dot(to, to) - balls[i].w * balls[i].w, d = b * b - c;
    if (d < 0.0) continue;
    float t = b - sqrt(d);
    if (t > 1e-3 && t < nearest) {
      nearest = t;
      what = i;
    }
  }
  float t = -from.y / along.y;
  if (t > 1e-3 && t < nearest) {
    nearest = t;
    what = 3;
  }
  return nearest;
}

vec3 shade(vec3 from, vec3 along, out vec3 at, out vec3 normal, out bool hit) {
  int what;
  float t = meet(from, along, what);
  hit = what >= 0;
  if (!hit) return mix(vec3(0.8, 0.9, 1.0), vec3(0.2, 0.4, 0.8), clamp(along.y * 1.5, 0.0, 1.0));
  at = from + t * along;
  vec3 paint;
  if (what == 3) {
    normal = vec3(0, 1, 0);
    paint = ((int(floor(at.x)) + int(floor(at.z))) & 1) == 0 ? vec3(0.9) : vec3(0.25);
  } else {
    normal = normalize(at - balls[what].xyz);
    paint = paints[what];
  }
  vec3 light = normalize(vec3(-0.6, 1.0, -0.5));
  int other;
  meet(at + 1e-2 * normal, light, other);
  float lit = other >= 0 ? 0.0 : max(dot(normal, light), 0.0);
  return paint * (0.25 + 0.75 * lit);
}

void main() {
  uvec2 p = gl_GlobalInvocationID.xy;
  vec2 uv = (vec2(p) + 0.5 - 0.5 * vec2(width, height)) / float(height);
  vec3 along = normalize(vec3(uv.x, -uv.y, 1.0)), from = vec3(0, 1.4, -1.5), at, normal;
  bool hit;
  vec3 colour = shade(from, along, at, normal, hit);
  if (hit) {
    vec3 again_at, again_normal;
    bool again;
    colour = mix(colour, shade(at + 1e-2 * normal, reflect(along, normal), again_at, again_normal, again), 0.25);
  }
  uvec3 rgb = uvec3(clamp(colour, 0.0, 1.0) * 255.0 + 0.5);
  picture[p.y * width + p.x] = rgb.x | rgb.y << 8 | rgb.z << 16 | 0xff000000u;
}
