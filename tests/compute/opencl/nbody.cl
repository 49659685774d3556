// One step of the n-body problem, one body per item; positions and masses are loaded to local memory tile by tile.
#define T 64
__kernel void nbody(int count, float step, float soft, __global const float4* at, __global const float4* speed,
                    __global float4* at_then, __global float4* speed_then) {
  __local float4 tile[T];
  const int i = get_global_id(0), l = get_local_id(0);
  const float4 mine = at[i];
  float3 pull = (float3)(0);
  for (int t = 0; t < count; t += T) {
    tile[l] = at[t + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < T; ++k) {
      const float3 way = tile[k].xyz - mine.xyz;
      const float inverse = native_rsqrt(dot(way, way) + soft);
      pull += way * (tile[k].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float3 faster = speed[i].xyz + pull * step;
  at_then[i] = (float4)(mine.xyz + faster * step, mine.w);
  speed_then[i] = (float4)(faster, 0);
}
