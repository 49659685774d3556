// Traces spheres on a floor with a Vulkan compute shader. usage: vulkan_picture SHADER_FOLDER FILE.png
#include "png_file.h"
#include "vulkan/vulkan_session.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: vulkan_picture SHADER_FOLDER FILE.png\n");
    return 2;
  }
  constexpr uint32_t kWidth = 320, kHeight = 240;
  VulkanSession session(arguments[1]);
  std::printf("%s\n", session.name().c_str());
  const auto picture = session.buffer(std::vector<uint32_t>(kWidth * kHeight));
  session.run({.shader = "spheres",
               .buffers = {picture},
               .constants = {kWidth, kHeight},
               .groups = {kWidth / 8, kHeight / 8, 1}});
  write_png(arguments[2], kWidth, kHeight, session.read<uint32_t>(picture));
}
