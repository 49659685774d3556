// The sub-commands of the halogen tool: each adds itself to the command line and sets the exit status. Exit 0: done; 1:
// the job ran and found a fault; 2: wrong usage or bad input, with one sentence on stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace halogen::cli {

constexpr int kExitFault = 1;
constexpr int kExitUse = 2;

void add_asm(CLI::App& app, int& status);
void add_counters(CLI::App& app, int& status);
void add_coverage(CLI::App& app, int& status);
void add_decode(CLI::App& app, int& status);
void add_devices(CLI::App& app, int& status);
void add_disasm(CLI::App& app, int& status);
void add_picture(CLI::App& app, int& status);
void add_registers(CLI::App& app, int& status);
void add_replay(CLI::App& app, int& status);
// `behind`: the arguments after "--", which belong to the program to run.
void add_run(CLI::App& app, int& status, const std::vector<std::string>& behind);
void add_serve(CLI::App& app, int& status);
void add_step(CLI::App& app, int& status);
void add_vm(CLI::App& app, int& status, const std::vector<std::string>& behind);
void add_walk(CLI::App& app, int& status);

}  // namespace halogen::cli
