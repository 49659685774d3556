// Four items say who they are.
__kernel void text(int seven) { printf("item %d of %d: %x %s\n", (int)get_global_id(0), seven, 0xbeef, "done"); }
