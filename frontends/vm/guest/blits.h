// Fills and copies by the 2D engine, checked by the guest pixel by pixel.
#pragma once

// Fills at every depth, copies by every command that the chip has; everywhere: from and to local memory too.
void test_blits(void (*expect)(int holds, const char* what), int everywhere);
