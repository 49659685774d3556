// Reports of the guest's kernel about the device, outside the DRM interface: interrupts, engines, files.
#pragma once

// Returns the number of interrupts that the driver handled.
unsigned long interrupt_count(void);

// Writes the sorted names of the engines to one line. Returns 0 if i915 reports none.
unsigned engine_names(char* text, unsigned bytes);

struct files_read {
  unsigned opened, refused;
  unsigned long bytes;
};
// Reads every file below a folder without following links, each to its end or to a limit.
struct files_read read_files(const char* folder);
