// halogen: the command line tool.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.h"

int main(int argc, char** argv) {
  // Writing to a pipe that nobody reads is an error we see, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"A software Intel GPU: reads, decodes and runs what drivers send to Gen4 to Gen12 graphics.", "halogen"};
  app.require_subcommand(1);
  app.set_version_flag("--version", HALOGEN_VERSION);
  int status = 0;
  char** const separator =
      std::find_if(argv, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const std::vector<std::string> behind(separator == argv + argc ? separator : separator + 1, argv + argc);
  argc = static_cast<int>(separator - argv);
  halogen::cli::add_asm(app, status);
  halogen::cli::add_coverage(app, status);
  halogen::cli::add_decode(app, status);
  halogen::cli::add_devices(app, status);
  halogen::cli::add_disasm(app, status);
  halogen::cli::add_picture(app, status);
  halogen::cli::add_registers(app, status);
  halogen::cli::add_replay(app, status);
  halogen::cli::add_run(app, status, behind);
  halogen::cli::add_serve(app, status);
  halogen::cli::add_step(app, status);
  halogen::cli::add_vm(app, status, behind);
  halogen::cli::add_walk(app, status);
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(all.begin(), all.end(), named)) {
    fmt::print(stderr, "halogen: there is no command \"{}\"; halogen --help lists the commands.\n", argv[1]);
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
