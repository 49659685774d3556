// Fills and copies by the 2D engine, checked by the guest pixel by pixel.
#pragma once

// Fills at every depth, copies by every command that the chip has; everywhere: from and to local memory too.
void test_blits(void (*expect)(int holds, const char* what), int everywhere);

// Fills that last longer than a driver looks for their end without sleeping. 0: they ended.
int run_long_fills(void);
