// halogen picture: writes a surface of a trace, or the output of a display pipe, as a PNG file.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "device/state_picture.h"
#include "device/surface_picture.h"
#include "numbers.h"
#include "picture/png.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"
#include "trace/trace_frame.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string file;
  std::string device;
  std::string ggtt;
  std::string ppgtt;
  std::string engine;
  std::string size;
  uint64_t pitch = 0;
  std::string format = "xrgb8888";
  std::string tiling = "linear";
  std::string out;
  std::string pipe;
  bool states = false;
  std::optional<uint64_t> vblank;
};

constexpr std::pair<std::string_view, Tiling> kTilings[] = {{"linear", Tiling::linear}, {"x", Tiling::x},
                                                            {"y", Tiling::y},           {"w", Tiling::w},
                                                            {"yf", Tiling::yf},         {"ys", Tiling::ys}};

Result<void> take_size(const std::string& text, device::SurfaceView& view) {
  const char* const end = text.data() + text.size();
  const auto [middle, first] = std::from_chars(text.data(), end, view.width);
  if (first == std::errc{} && middle != end && *middle == 'x') {
    const auto [last, second] = std::from_chars(middle + 1, end, view.height);
    if (second == std::errc{} && last == end) {
      return {};
    }
  }
  return Error{fmt::format("--size \"{}\" is not a size; write WIDTHxHEIGHT in pixels.", text)};
}

// Takes the address, which is all that a picture of states needs.
Result<void> take_address(const Options& options, device::SurfaceView& view) {
  if (options.ggtt.empty() == options.ppgtt.empty()) {
    return Error{"give one address, with --ggtt or with --ppgtt."};
  }
  const bool global = !options.ggtt.empty();
  const auto address = parse_address(global ? "--ggtt" : "--ppgtt", global ? options.ggtt : options.ppgtt);
  if (!address) return address.error();
  view.address = address->value;
  return {};
}

Result<device::SurfaceView> view_of(const Options& options) {
  device::SurfaceView view;
  if (const auto taken = take_address(options, view); !taken || options.states) {
    return taken ? Result<device::SurfaceView>(view) : taken.error();
  }
  if (const auto size = take_size(options.size, view); !size) return size.error();
  const auto format = picture::find_format(options.format);
  if (!format) {
    std::vector<std::string_view> names;
    for (const picture::PixelFormat known : picture::pixel_formats()) names.push_back(picture::name_of(known));
    return Error{fmt::format("unknown format \"{}\"; give one of {}.", options.format, fmt::join(names, ", "))};
  }
  view.format = *format;
  const auto* const tiling = std::ranges::find(kTilings, options.tiling, &std::pair<std::string_view, Tiling>::first);
  if (tiling == std::end(kTilings)) {
    return Error{fmt::format("unknown tiling \"{}\"; give linear, x, y, w, yf or ys.", options.tiling)};
  }
  view.tiling = tiling->second;
  view.pitch_B = options.pitch != 0 ? options.pitch : uint64_t{view.width} * picture::pixel_bytes(view.format);
  return view;
}

Result<unsigned> engine_of(const Options& options, const spec::DeviceModel& model) {
  if (options.engine.empty()) return 0u;
  for (unsigned n = 0; n < model.engines.size(); ++n) {
    if (model.engines[n].name == options.engine) return n;
  }
  return Error{fmt::format("{} has no engine \"{}\"; run \"halogen devices\" for a list.", model.name, options.engine)};
}

Result<void> make_frame(const Options& options, trace::aub::Reader& reader, trace::Player& player) {
  constexpr std::string_view kPipes = "ABCD";
  const size_t pipe = options.pipe.size() == 1 ? kPipes.find(options.pipe) : std::string_view::npos;
  if (pipe == std::string_view::npos) {
    return Error{fmt::format("--pipe \"{}\" is not a pipe; write A, B, C or D.", options.pipe)};
  }
  const auto image =
      trace::frame_of_trace(reader, player, {.pipe = static_cast<unsigned>(pipe), .vblank = options.vblank});
  if (!image) return image.error();
  if (const auto written = picture::write_png(options.out, *image); !written) {
    return Error{fmt::format("{}.", written.message())};
  }
  return {};
}

Result<uint64_t> make(const Options& options) {
  const bool frame = !options.pipe.empty();
  const bool whole = frame || options.states;  // needs no size
  if (whole != options.size.empty() || (frame && options.states) || (!frame && options.vblank)) {
    return Error{
        "give --pipe for a frame of the display, --size and an address for a surface, or --states and an address."};
  }
  const auto view = frame ? Result<device::SurfaceView>(device::SurfaceView{}) : view_of(options);
  if (!view) return view.error();
  const spec::DeviceModel* model = nullptr;
  if (!options.device.empty()) {
    model = spec::find_device(options.device);
    if (model == nullptr) {
      return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
    }
  }
  auto source = trace::open_file(options.file);
  if (!source) return source.error();
  trace::Player player(model);
  if (options.states) player.check_rules();
  trace::aub::Reader reader(**source, options.file);
  if (frame) {
    if (const auto made = make_frame(options, reader, player); !made) return made.error();
    return uint64_t{0};
  }
  if (const auto read = reader.read_all(player); !read) return read.error();
  if (!player.failure().empty()) return Error{fmt::format("{}: {}.", options.file, player.failure())};
  if (player.device() == nullptr) {
    return Error{fmt::format("{}: the trace does not name a device; give one with --device.", options.file)};
  }
  device::Device& device = *player.device();
  const auto engine = engine_of(options, device.model());
  if (!engine) return engine.error();
  const memory::TableKind table = options.ggtt.empty() ? memory::TableKind::per_process : memory::TableKind::global;
  if (options.states) {
    const auto states =
        device::picture_of_states(device, device.space(*engine, memory::Stream::batch, table), view->address);
    if (!states) return Error{fmt::format("{}.", states.message())};
    const auto written = picture::write_png(options.out, *states);
    return written ? Result<uint64_t>(uint64_t{0}) : Error{fmt::format("{}.", written.message())};
  }
  const auto made = device::picture_of(device.space(*engine, memory::Stream::batch, table), *view);
  if (!made) return Error{fmt::format("{}.", made.message())};
  if (const auto written = picture::write_png(options.out, made->image); !written) {
    return Error{fmt::format("{}.", written.message())};
  }
  return made->missing_pages;
}

int run(const Options& options) {
  const auto missing = make(options);
  if (!missing) {
    fmt::print(stderr, "halogen picture: {}\n", missing.message());
    return kExitUse;
  }
  if (*missing != 0) {
    fmt::print(stderr, "halogen picture: {}: {} {} not mapped and {} black.\n", options.file, *missing,
               *missing == 1 ? "page is" : "pages are", *missing == 1 ? "shows" : "show");
    return kExitFault;
  }
  return 0;
}

}  // namespace

void add_picture(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("picture", "run an AUB trace and write a surface, or the screen, as a PNG file");
  command->add_option("file", options->file, "an AUB trace (also .xz)")->required()->type_name("FILE");
  command->add_option("--ggtt", options->ggtt, "address of the surface in the global table")->type_name("ADDR");
  command->add_option("--ppgtt", options->ppgtt, "address of the surface in the tables of the engine's last context")
      ->type_name("ADDR");
  command->add_option("--engine", options->engine, "engine whose tables --ppgtt uses (default: the first engine)");
  command->add_option("--size", options->size, "width and height of a surface in pixels")->type_name("WxH");
  command->add_option("--pitch", options->pitch, "bytes from row to row (default: rows without gaps)");
  command->add_option("--format", options->format, "xrgb8888 (default), rgb565, xbgr2101010, yuyv, r8 and others");
  command->add_option("--tiling", options->tiling, "linear (default), x, y, w, yf, ys");
  command->add_option("--device", options->device, "run on this device (default: the one named by the trace)");
  command->add_option("--pipe", options->pipe, "write the output of this pipe (A to D) instead of a surface");
  command->add_option("--vblank", options->vblank,
                      "number of the pipe's vertical blank, from 1 (default: after the trace)");
  command->add_flag("--states", options->states,
                    "write the compression state of the blocks of the surface at this address instead: clear red,\n"
                    "compressed yellow, resolved blue; the size is that of its last use with states");
  command->add_option("--out", options->out, "the PNG file")->required()->type_name("FILE");
  command->footer(
      "Surfaces are read after the whole trace has run. Exit: 0 written; 1 written, but parts are not "
      "mapped;\n"
      "2 wrong usage or bad file.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
