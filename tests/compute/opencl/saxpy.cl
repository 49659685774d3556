// y = s * x + y in single precision.
__kernel void saxpy(float s, __global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = s * x[i] + y[i];
}
