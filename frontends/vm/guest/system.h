// What the guest's kernel shows of the device beside its interface: interrupts, engines, files.
#pragma once

// How many interrupts the driver took.
unsigned long interrupt_count(void);

// The engines' names in one line, sorted; 0: the kernel shows none.
unsigned engine_names(char* text, unsigned bytes);

struct files_read {
  unsigned opened, refused;
  unsigned long bytes;
};
// Reads every file below a folder, links not followed, each to its end or to a limit.
struct files_read read_files(const char* folder);
