// Fragment shaders that use the pixel interpolator and read the render target, and a picture by compute shaders. 256 x 256
// RGBA8 pixels. tests/doors/shows.py checks the pictures.
// usage: gl_pixels [-o FOLDER] [scene...]   default: all scenes; -o: writes their pixels as FOLDER/SCENE.rgba
#include <stdio.h>
#include <string.h>

#include "gl/frames.h"
#include "gl/scenes.h"

enum { kSize = 256 };

// The start of all shaders; extensions must come first.
#define HEAD(extensions) "#version 320 es\n" extensions "precision highp float;\nprecision highp int;\n"

static void use(const char* vertex, const char* head, const char* fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, HEAD(""), vertex));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, head, fragment));
  link_program(program);
}

// Creates a frame buffer with this many samples, or with a texture for one sample.
static GLuint frame(int samples) {
  const GLuint made = make_frame();
  if (samples > 1) {
    attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples, kSize, kSize);
  } else {
    const GLuint texture = make_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, kSize, kSize);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  }
  glViewport(0, 0, kSize, kSize);
  clear_frame(0);
  return made;
}

// Three triangles that lean away from the eye, so that w varies.
static const char* const kLeaning =
    "out vec4 v;\n"
    "void main() {\n"
    "  vec2 places[9] = vec2[9](vec2(-0.93, -0.87), vec2(0.71, -0.91), vec2(-0.13, 0.83),\n"
    "                           vec2(0.95, 0.11), vec2(0.31, 0.93), vec2(0.17, -0.21),\n"
    "                           vec2(-0.97, 0.97), vec2(-0.91, -0.37), vec2(-0.27, 0.89));\n"
    "  vec2 at = places[gl_VertexID];\n"
    "  float w = 1.0 + 0.4 * float(gl_VertexID % 3);\n"
    "  gl_Position = vec4(at * w, 0.0, w);\n"
    "  v = vec4(at * 0.5 + 0.5, float(gl_VertexID % 3) * 0.5, 1.0);\n"
    "}\n";

static void lean(int samples, const char* fragment) {
  const GLuint many = frame(samples);
  use(kLeaning, HEAD(""), fragment);
  glDrawArrays(GL_TRIANGLES, 0, 9);
  if (samples > 1) resolve(many, frame(1), kSize, kSize);
}

// Overlapping triangles, each computed from the target's colour: by framebuffer fetch, or from a copy of the target.
static void fetch(void) {
  static const char* const kVertex =
      "uniform int turn; flat out int t;\n"
      "void main() {\n"
      "  float a = float(turn) * 0.9 + float(gl_VertexID) * 2.1;\n"
      "  t = turn;\n"
      "  gl_Position = vec4(cos(a) * 0.83, sin(a) * 0.83, 0.0, 1.0);\n"
      "}\n";
  static const char* const kMix = "vec4(old.gbr * 0.75 + vec3(0.0, 0.25, 0.125) * float(t & 1), 1.0)";
  char text[1024];
  const int fetches = has_extension("GL_EXT_shader_framebuffer_fetch");
  frame(1);
  if (fetches) {
    snprintf(text, sizeof text,
             "layout(location = 0) inout vec4 c; flat in int t; void main() { vec4 old = c; c = %s; }", kMix);
    use(kVertex, HEAD("#extension GL_EXT_shader_framebuffer_fetch : require\n"), text);
  } else {
    snprintf(text, sizeof text,
             "uniform sampler2D copy; out vec4 c; flat in int t;\n"
             "void main() { vec4 old = texelFetch(copy, ivec2(gl_FragCoord.xy), 0); c = %s; }",
             kMix);
    use(kVertex, HEAD(""), text);
    make_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, kSize, kSize);
  }
  for (int i = 0; i < 7; ++i) {
    if (!fetches) glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, kSize, kSize);
    glUniform1i(uniform_place("turn"), i);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
}

static void use_compute(const char* text) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_COMPUTE_SHADER, HEAD(""), text));
  link_program(program);
}

// The first dispatch sums one value per invocation in shared memory, accumulates the sums of each column of work groups
// in a buffer, and writes the size of the second dispatch there. The second (indirect) dispatch draws the sums as bars
// into the texture.
static void computed(void) {
  frame(1);
  GLint texture = 0;
  glGetIntegerv(GL_TEXTURE_BINDING_2D, &texture);
  GLuint sums = 0;
  glGenBuffers(1, &sums);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, sums);
  glBufferData(GL_SHADER_STORAGE_BUFFER, 64 * sizeof(GLuint), NULL, GL_DYNAMIC_COPY);
  memset(glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, 64 * sizeof(GLuint), GL_MAP_WRITE_BIT), 0, 64 * sizeof(GLuint));
  glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, sums);
  use_compute(
      "layout(local_size_x = 8, local_size_y = 4) in;\n"
      "layout(std430, binding = 0) buffer Sums { uint size[4]; uint sum[60]; };\n"
      "shared uint part[32];\n"
      "void main() {\n"
      "  part[gl_LocalInvocationIndex] = gl_GlobalInvocationID.x * 7u ^ gl_GlobalInvocationID.y;\n"
      "  for (uint step = 16u; step != 0u; step >>= 1) {\n"
      "    memoryBarrierShared(); barrier();\n"
      "    if (gl_LocalInvocationIndex < step)\n"
      "      part[gl_LocalInvocationIndex] += part[gl_LocalInvocationIndex + step];\n"
      "  }\n"
      "  if (gl_LocalInvocationIndex == 0u) atomicAdd(sum[gl_WorkGroupID.x], part[0]);\n"
      "  if (gl_GlobalInvocationID.xy == uvec2(0)) { size[0] = 32u; size[1] = 16u; size[2] = 1u; }\n"
      "}\n");
  glDispatchCompute(32, 5, 1);
  glMemoryBarrier(GL_COMMAND_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT);
  glBindBuffer(GL_DISPATCH_INDIRECT_BUFFER, sums);
  glBindImageTexture(0, (GLuint)texture, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
  use_compute(
      "layout(local_size_x = 8, local_size_y = 16) in;\n"
      "layout(std430, binding = 0) buffer Sums { uint size[4]; uint sum[60]; };\n"
      "layout(rgba8, binding = 0) writeonly uniform highp image2D picture;\n"
      "void main() {\n"
      "  uint here = sum[gl_WorkGroupID.x];\n"
      "  bool low = gl_GlobalInvocationID.y * 400u < here;\n"
      "  imageStore(picture, ivec2(gl_GlobalInvocationID.xy),\n"
      "             vec4(low ? 1.0 : 0.25, vec2(gl_LocalInvocationID.xy) / vec2(7.0, 15.0), 1.0));\n"
      "}\n");
  glDispatchComputeIndirect(0);
  glMemoryBarrier(GL_FRAMEBUFFER_BARRIER_BIT);
}

// Multisampled frame buffers, one after the other in the same memory. Each is first cleared to zero, which a driver may leave
// to the MCS surface, and then drawn completely.
static void cleared(void) {
  GLuint many = 0;
  for (int i = 0; i < 5; ++i) {
    many = make_frame();
    const GLuint buffer = attach_buffer(GL_COLOR_ATTACHMENT0, GL_RGBA8, 4, kSize, kSize);
    glViewport(0, 0, kSize, kSize);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    if (i == 4) break;
    use("void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }", HEAD(""),
        "out vec4 c; void main() { c = vec4(fract(gl_FragCoord.xy * 0.37), 0.5, 0.75); }");
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glFinish();
    glDeleteFramebuffers(1, &many);
    glDeleteRenderbuffers(1, &buffer);
    glFinish();
  }
  use(kLeaning, HEAD(""),
      "in vec4 v; out vec4 c; void main() { if (fract(gl_FragCoord.x * 0.125) < 0.5) discard; c = vec4(v.xyz, 1.0); }");
  glDrawArrays(GL_TRIANGLES, 0, 9);
  resolve(many, frame(1), kSize, kSize);
}

static void at_offset(void) {
  lean(1,
       "in vec4 v; out vec4 c; void main() {\n"
       "  vec4 a = interpolateAtOffset(v, vec2(0.4375, -0.5)), b = interpolateAtOffset(v, vec2(-0.25, 0.375));\n"
       "  c = vec4(a.x, b.y, 0.5 * (a.z + b.z), 1.0); }");
}
static void at_any_offset(void) {
  lean(1,
       "in vec4 v; out vec4 c; void main() {\n"
       "  vec2 at = (mod(floor(gl_FragCoord.xy), 15.0) - 7.0) / 16.0;\n"
       "  c = vec4(0.25 + 0.5 * interpolateAtOffset(v, at).xyz, 1.0); }");
}
static void at_sample(void) {
  lean(4,
       "in vec4 v; out vec4 c; uniform int which; void main() {\n"
       "  c = vec4(interpolateAtSample(v, 1).x, interpolateAtSample(v, 2).y, interpolateAtSample(v, which + 3).z, "
       "1.0); }");
}
// A covered sample is inside the primitive.
static void at_centroid(void) {
  lean(4,
       "in vec4 v; out vec4 c; void main() {\n"
       "  float inside = interpolateAtCentroid(v).z;\n"
       "  c = vec4(inside >= -0.004 && inside <= 1.004 ? 1.0 : 0.0, v.z < 0.0 || v.z > 1.0 ? 1.0 : 0.0, 0.5, 1.0); "
       "}");
}

static const struct Scene kScenes[] = {
    {"at_offset", at_offset, NULL, 0, NULL}, {"at_any_offset", at_any_offset, NULL, 0, NULL},
    {"at_sample", at_sample, NULL, 0, NULL}, {"at_centroid", at_centroid, NULL, 0, NULL},
    {"fetch", fetch, NULL, 0, NULL},         {"computed", computed, NULL, 0, NULL},
    {"cleared", cleared, NULL, 0, NULL}};

static void take_all(void) {
  take(kSize, kSize);
}

int main(int count, char** words) {
  open_display(EGL_OPENGL_ES_API);
  const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
  if (!make_context(attributes)) fail("no context", "");
  return run_scenes(count, words, kScenes, sizeof kScenes / sizeof kScenes[0], NULL, take_all);
}
