// Counts the steps until a point leaves the circle of radius 2; REAL is float or double. Contraction is off, so every
// operation rounds.
#ifdef WIDE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
__kernel void mandelbrot(__global uint* steps, uint limit, REAL left, REAL top, REAL pitch) {
  const uint x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
  const REAL cr = left + pitch * (REAL)x, ci = top + pitch * (REAL)y;
  REAL r = 0, i = 0;
  uint n = 0;
  while (n < limit && r * r + i * i <= (REAL)4) {
    const REAL next = r * r - i * i + cr;
    i = (REAL)2 * r * i + ci;
    r = next;
    ++n;
  }
  steps[y * width + x] = n;
}
