// Four items print their number.
__kernel void text(int seven) { printf("item %d of %d: %x %s\n", (int)get_global_id(0), seven, 0xbeef, "done"); }
