// Attributes without perspective.
#include "targets.h"

// A triangle clipped by the near plane and a user clip plane. (llvmpipe draws black if the sides clip a triangle.)
void no_perspective(void) {
  static const float kPlaces[] = {-0.9f, -0.8f, 0.0f, 1.0f, 0.9f, -0.7f, -3.0f, 0.7f, -0.2f, 1.8f, 0.5f, 2.0f};
  static const float kColours[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int turn = 0; turn < 3; ++turn) {
    picture(GL_RGBA8, kSize, kSize);
    use("#version 130\nin vec4 p; in vec3 t; noperspective out vec3 a; out vec3 b; uniform float plane;\n"
        "void main() { gl_Position = p; a = t; b = t.zxy; gl_ClipDistance[0] = plane > 0.5 ? p.x + 0.4 * p.w : 1.0; }",
        "#version 130\nnoperspective in vec3 a; in vec3 b; uniform float which;\n"
        "void main() { gl_FragColor = vec4(which > 0.5 ? b : a, 1.0); }");
    set1("plane", turn == 2 ? 1 : 0);
    set1("which", turn == 1 ? 1 : 0);
    if (turn == 2) glEnable(GL_CLIP_DISTANCE0);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, kPlaces);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 0, kColours);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glDisable(GL_CLIP_DISTANCE0);
    glDisableVertexAttribArray(1);
    take(kSize, kSize);
  }
}
