// Every integer atomic operation, each on a word of its own; the results do not depend on the order.
__kernel void atomics(__global int* words, __global uint* tickets) {
  const int i = get_global_id(0);
  atomic_add(&words[0], i);
  atomic_sub(&words[1], 2 * i);
  atomic_inc(&words[2]);
  atomic_dec(&words[3]);
  atomic_min(&words[4], 1000 - i);
  atomic_max(&words[5], 3 * i);
  atomic_and(&words[6], ~(1 << (i & 15)));
  atomic_or(&words[7], 1 << (i & 31));
  atomic_xor(&words[8], 1 << (i % 31));
  int seen = words[9];
  for (int before = seen; (seen = atomic_cmpxchg(&words[9], before, before + 3)) != before;) before = seen;
  tickets[atomic_inc(&words[10])] = 1;
}
