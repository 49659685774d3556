// Fills and copies by the blitter, checked by the guest byte by byte.
#pragma once

// Tests fills at every depth and copies by every command of the chip. `everywhere`: from and to local memory too.
void test_blits(void (*expect)(int holds, const char* what), int everywhere);

// Runs fills that last longer than a driver polls for their end without sleeping. 0: they ended.
int run_long_fills(void);
