// Computes the Mandelbrot set with OpenCL. usage: opencl_picture KERNEL_FOLDER FILE.png
#include "opencl/opencl_session.h"
#include "png_file.h"

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: opencl_picture KERNEL_FOLDER FILE.png\n");
    return 2;
  }
  constexpr uint32_t kWidth = 320, kHeight = 240, kLimit = 100;
  OpenClSession session(arguments[1]);
  std::printf("%s, %s\n", session.text(CL_DEVICE_NAME).c_str(), session.text(CL_DRIVER_VERSION).c_str());
  cl_mem picture = session.buffer(std::vector<uint32_t>(kWidth * kHeight));
  session.run(session.kernel("mandelbrot", "mandelbrot"), {kWidth, kHeight}, {}, {}, picture, kLimit);
  write_png(arguments[2], kWidth, kHeight, session.read<uint32_t>(picture, kWidth * kHeight));
}
