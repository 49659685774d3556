// Traces spheres on a floor with a Vulkan compute shader. usage: vulkan_picture SHADER_FOLDER FILE.png
#include "png_file.h"
#include "vulkan/vulkan_machine.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: vulkan_picture SHADER_FOLDER FILE.png\n");
    return 2;
  }
  constexpr uint32_t kWidth = 320, kHeight = 240;
  Machine machine(arguments[1]);
  std::printf("%s\n", machine.name().c_str());
  const auto picture = machine.buffer(std::vector<uint32_t>(kWidth * kHeight));
  machine.run({.shader = "spheres",
               .buffers = {picture},
               .constants = {kWidth, kHeight},
               .groups = {kWidth / 8, kHeight / 8, 1}});
  write_png(arguments[2], kWidth, kHeight, machine.read<uint32_t>(picture));
}
