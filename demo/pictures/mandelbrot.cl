// The Mandelbrot set, coloured by the number of iterations before a point escapes.
__kernel void mandelbrot(__global uchar4* picture, uint limit) {
  const uint x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
  const float cr = -2.2f + 3.2f * x / width, ci = -1.2f + 3.2f * y / width;
  float r = 0, i = 0;
  uint n = 0;
  for (; n < limit && r * r + i * i < 16; ++n) {
    const float next = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = next;
  }
  const float smooth_n = n + 2 - log2(log2(r * r + i * i + 1));
  const float3 colour = n == limit ? (float3)(0) : 0.5f + 0.5f * cos(0.15f * smooth_n + (float3)(3.6f, 4.4f, 5.2f));
  picture[y * width + x] = (uchar4)(convert_uchar3_sat(colour * 255), 255);
}
