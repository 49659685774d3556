// SHA-256 of one 55-byte message per item: the item's number as eight hexadecimal digits, then dots.
__constant uint k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
uint turn(uint x, uint by) { return rotate(x, 32 - by); }
__kernel void sha256(__global uint* digests) {
  const uint item = get_global_id(0);
  uchar text[64];
  for (uint i = 0; i < 64; ++i) text[i] = i < 55 ? '.' : 0;
  for (uint i = 0; i < 8; ++i) {
    const uint digit = item >> (28 - 4 * i) & 15;
    text[i] = digit < 10 ? '0' + digit : 'a' + digit - 10;
  }
  text[55] = 0x80;
  text[62] = (55 * 8) >> 8;
  text[63] = (55 * 8) & 255;
  uint w[64];
  for (uint i = 0; i < 16; ++i) {
    w[i] = (uint)text[4 * i] << 24 | (uint)text[4 * i + 1] << 16 | (uint)text[4 * i + 2] << 8 | text[4 * i + 3];
  }
  for (uint i = 16; i < 64; ++i) {
    const uint s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint s[8];
  for (uint i = 0; i < 8; ++i) s[i] = h[i];
  for (uint i = 0; i < 64; ++i) {
    const uint s1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
    const uint t1 = s[7] + s1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    const uint s0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
    const uint t2 = s0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (uint j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (uint i = 0; i < 8; ++i) digests[8 * item + i] = h[i] + s[i];
}
