// Transposes an image; the sampler returns the nearest texel.
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void image_copy(read_only image2d_t from, write_only image2d_t to) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  write_imageui(to, at, read_imageui(from, nearest, at.yx).wxyz);
}
