// Small GL programs without a window, as the recorded streams of the drivers come from: a clear, a triangle, a textured
// one, one with depth, a copy of the frame buffer into a texture, a blit between frame buffers, quads; 64 x 64 pixels,
// RGBA8. What stands in the pictures is not judged here: their sum is printed. Exit 0: nothing failed and nothing hung.
// usage: gl_scenes [-o FOLDER] [scene...]   without scenes: all; -o: their pixels, as FOLDER/SCENE.rgba
#include <string.h>

#include "offscreen.h"

enum { kSize = 64 };

static void use(const char* vertex, const char* fragment) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, make_shader(GL_VERTEX_SHADER, vertex));
  glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, fragment));
  glBindAttribLocation(program, 0, "p");
  glBindAttribLocation(program, 1, "t");
  glLinkProgram(program);
  glUseProgram(program);
  const GLint place = glGetUniformLocation(program, "image");
  if (place >= 0) glUniform1i(place, 0);
}

static GLuint texture(const void* pixels) {
  GLuint made = 0;
  glGenTextures(1, &made);
  glBindTexture(GL_TEXTURE_2D, made);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kSize, kSize, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  return made;
}

static GLuint frame(int depth) {
  GLuint made = 0;
  glGenFramebuffers(1, &made);
  glBindFramebuffer(GL_FRAMEBUFFER, made);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture(NULL), 0);
  if (depth) {
    GLuint buffer = 0;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT16, kSize, kSize);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, buffer);
  }
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) fprintf(stderr, "no frame buffer\n");
  glViewport(0, 0, kSize, kSize);
  glClearColor(0.25f, 0.5f, 0.75f, 1);
  glClear(GL_COLOR_BUFFER_BIT | (depth ? GL_DEPTH_BUFFER_BIT : 0));
  return made;
}

static const char kPlain[] = "attribute vec4 p; void main() { gl_Position = p; }";
static const char kColour[] = "void main() { gl_FragColor = vec4(1.0, 0.5, 0.25, 1.0); }";
static const char kWithTexture[] =
    "attribute vec4 p; attribute vec2 t; varying vec2 u; void main() { gl_Position = p; u = t; }";
static const char kTextured[] =
    "varying vec2 u; uniform sampler2D image; void main() { gl_FragColor = texture2D(image, u); }";

static void triangle(float z) {
  const GLfloat corners[] = {-0.5f, -0.5f, z, 0.5f, -0.5f, z, 0.0f, 0.5f, z};
  static const GLfloat places[] = {0, 0, 1, 0, 0.5f, 1};
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, 0, places);
  glEnableVertexAttribArray(0);
  glEnableVertexAttribArray(1);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

// Quads and a strip of them, which the first chips take apart in geometry threads.
static void quads(void) {
  static const GLfloat corners[] = {-0.75f, -0.75f, 0, -0.25f, -0.75f, 0, -0.25f, -0.25f, 0, -0.75f, -0.25f, 0,
                                    0.25f,  -0.75f, 0, 0.75f,  -0.75f, 0, 0.5f,   -0.25f, 0, 0.25f,  -0.25f, 0,
                                    -0.75f, 0.25f,  0, -0.75f, 0.75f,  0, -0.25f, 0.25f,  0, -0.25f, 0.75f,  0,
                                    0.5f,   0,      0, 0.75f,  0.5f,   0};
  enum { kQuads = 7, kQuadStrip = 8 };  // the header is that of a GL without them
  glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 0, corners);
  glEnableVertexAttribArray(0);
  glDrawArrays(kQuads, 0, 8);
  glDrawArrays(kQuadStrip, 8, 6);
}

static void draw(const char* scene) {
  const int depth = strcmp(scene, "depth") == 0;
  const GLuint target = frame(depth);
  if (strcmp(scene, "clear") == 0) return;
  static unsigned char pixels[kSize * kSize * 4];
  for (unsigned i = 0; i < sizeof pixels; ++i) pixels[i] = (unsigned char)(i * 7 + i / 256);
  if (strcmp(scene, "textri") == 0) {
    use(kWithTexture, kTextured);
    texture(pixels);
    triangle(0);
    return;
  }
  use(kPlain, kColour);
  if (strcmp(scene, "quads") == 0) {
    quads();
    return;
  }
  if (depth) {
    glEnable(GL_DEPTH_TEST);
    triangle(0.25f);
    triangle(0.5f);
    glDisable(GL_DEPTH_TEST);
    return;
  }
  triangle(0);
  if (strcmp(scene, "copytex") == 0) {
    const GLuint copy = texture(pixels);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 0, 0, 32, 32);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, copy, 0);
  } else if (strcmp(scene, "blit") == 0) {
    const GLuint other = frame(0);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, other);
    glBlitFramebuffer(0, 0, kSize, kSize, 16, 16, 48, 48, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, other);
  }
}

int main(int count, char** names) {
  const char* folder = NULL;
  if (count > 2 && strcmp(names[1], "-o") == 0) {
    folder = names[2];
    count -= 2;
    names += 2;
  }
  EGLDisplay display = open_offscreen(NULL);
  if (display == NULL) return 1;
  static const char* const all[] = {"clear", "tri", "textri", "depth", "copytex", "blit", "quads"};
  const int scenes = count > 1 ? count - 1 : 7;
  for (int i = 0; i < scenes; ++i) {
    const char* const scene = count > 1 ? names[i + 1] : all[i];
    draw(scene);
    glFinish();
    static unsigned char pixels[kSize * kSize * 4];
    glReadPixels(0, 0, kSize, kSize, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    if (folder != NULL) save_pixels(folder, scene, pixels, sizeof pixels);
    unsigned long sum = 0;
    for (unsigned at = 0; at < sizeof pixels; ++at) sum = sum * 31 + pixels[at];
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR) return fprintf(stderr, "%s: GL error %x\n", scene, error), 1;
    printf("%s %016lx\n", scene, sum);
  }
  eglTerminate(display);
  return 0;
}
