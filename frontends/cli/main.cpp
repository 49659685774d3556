// halogen: the command line tool.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.h"

namespace {

using namespace halogen::cli;

using Words = std::vector<std::string>;
struct Command {
  const char* name;
  void (*add)(CLI::App& app, int& status, const Words& behind);
};

template <void (*Add)(CLI::App&, int&)>
void plain(CLI::App& app, int& status, const Words&) {
  Add(app, status);
}

constexpr Command kCommands[] = {
    {"asm", plain<add_asm>},
    {"counters", plain<add_counters>},
    {"coverage", plain<add_coverage>},
    {"decode", plain<add_decode>},
    {"devices", plain<add_devices>},
    {"disasm", plain<add_disasm>},
    {"picture", plain<add_picture>},
    {"registers", plain<add_registers>},
    {"replay", plain<add_replay>},
    {"run", add_run},
    {"serve", plain<add_serve>},
    {"step", plain<add_step>},
    {"vm", add_vm},
    {"walk", plain<add_walk>},
};

}  // namespace

int main(int argc, char** argv) {
  // Writing to a closed pipe must return an error instead of raising a signal.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"A software Intel GPU: reads, decodes and runs what drivers send to Gen4 to Gen12 graphics.", "halogen"};
  app.require_subcommand(1);
  app.set_version_flag("--version", HALOGEN_VERSION);
  int status = 0;
  char** const separator =
      std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const std::vector<std::string> behind(separator == argv + argc ? separator : separator + 1, argv + argc);
  argc = static_cast<int>(separator - argv);
  // Describing a command takes time, so if one is named, only that one is described.
  const bool knows = argc > 1 && std::any_of(std::begin(kCommands), std::end(kCommands),
                                             [&](const Command& each) { return std::strcmp(each.name, argv[1]) == 0; });
  for (const Command& each : kCommands) {
    if (!knows || std::strcmp(each.name, argv[1]) == 0) each.add(app, status, behind);
  }
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(all.begin(), all.end(), named)) {
    fmt::print(stderr, "halogen: unknown command \"{}\"; halogen --help lists all commands.\n", argv[1]);
    return halogen::cli::kExitUse;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    fmt::print(stderr, "halogen: {}; halogen --help lists the commands.\n", error.what());
    return halogen::cli::kExitUse;
  } catch (const std::exception& error) {
    fmt::print(stderr, "halogen: {}.\n", error.what());
    return halogen::cli::kExitUse;
  }
  return status;
}
