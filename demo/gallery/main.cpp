// gallery FOLDER: writes every picture into the folder as a PNG file.
#include <fmt/format.h>

#include "gallery.h"
#include "picture/png.h"

int main(int argc, char** argv) {
  using namespace halogen;
  if (argc != 2) {
    fmt::print(stderr, "usage: gallery FOLDER\n");
    return 2;
  }
  std::vector<gallery::Picture> all;
  for (const auto& list : {gallery::blit_pictures(), gallery::display_pictures()}) {
    all.insert(all.end(), list.begin(), list.end());
  }
  for (const gallery::Picture& picture : all) {
    const std::string path = fmt::format("{}/{}.png", argv[1], picture.name);
    if (const auto written = picture::write_png(path, picture.make()); !written) {
      fmt::print(stderr, "gallery: {}\n", written.message());
      return 1;
    }
    fmt::print("{}\n", path);
  }
  return 0;
}
