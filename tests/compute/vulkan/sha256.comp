#version 450
// SHA-256 of one 55-byte message per item: the item's number as eight hexadecimal digits, then dots. The host provides
// the constants: 64 of the rounds, then 8 initial values.
layout(local_size_x = 32) in;
layout(binding = 0) buffer Digests { uint digests[]; };
layout(binding = 1) buffer Constants { uint k[64]; uint h[8]; };
uint turn(uint x, uint by) { return x >> by | x << (32 - by); }
uint letter(uint item, uint place) {
  if (place >= 8) return 0x2e;
  uint digit = item >> (28 - 4 * place) & 15;
  return digit < 10 ? 0x30 + digit : 0x57 + digit;
}
void main() {
  uint item = gl_GlobalInvocationID.x;
  uint w[64];
  for (uint i = 0; i < 16; ++i) {
    w[i] = 0;
    for (uint j = 0; j < 4; ++j) {
      uint place = 4 * i + j;
      uint value = place < 55 ? letter(item, place) : place == 55 ? 0x80 : place == 62 ? 1 : place == 63 ? 0xb8 : 0;
      w[i] = w[i] << 8 | value;
    }
  }
  for (uint i = 16; i < 64; ++i) {
    uint s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint s[8];
  for (uint i = 0; i < 8; ++i) s[i] = h[i];
  for (uint i = 0; i < 64; ++i) {
    uint t1 = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    uint t2 = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (uint j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (uint i = 0; i < 8; ++i) digests[8 * item + i] = h[i] + s[i];
}
