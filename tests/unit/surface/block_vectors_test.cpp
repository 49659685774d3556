// Random blocks with texels as Mesa's software rasteriser decodes them, whose code for these formats is independent:
// layouts of BC6H, signed and unsigned; ASTC blocks of every size, with one to four partitions and with one and two
// planes. Invalid blocks are made by hand.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "surface/block_format.h"

namespace halogen::surface {
namespace {

using F = hw::SurfaceFormat;

struct Sample {
  unsigned x, y;
  std::array<double, 4> color;  // ASTC: in units of 1/255
};
struct Vector {
  F format;
  uint64_t low, high;
  std::array<Sample, 2> samples;
};

constexpr Vector kBc6h[] = {
    {F::BC6H_SF16,
     0xc11f6531eb66d9a7,
     0xf30567547a34c162,
     {{{2, 3, {222.875, 323.75, 0.00323677063, 1}}, {1, 1, {222.875, 323.75, 0.00323677063, 1}}}}},
    {F::BC6H_SF16,
     0x1e0edcc1206967ce,
     0xe4546c04d9ff7cf6,
     {{{2, 0, {-645, 3114, 4.57421875, 1}}, {1, 2, {-682, 2158, 10.0625, 1}}}}},
    {F::BC6H_SF16,
     0x242a5f87d0a7dedd,
     0x0e1a95d201fdd96c,
     {{{2, 3, {-0.0375671387, 121.25, -0.000974178314, 1}}, {1, 1, {-0.046081543, 0.379150391, -0.0026512146, 1}}}}},
    {F::BC6H_SF16,
     0xc17881b052b6a73e,
     0x989fd3f3af7be2f1,
     {{{3, 1, {0.00129699707, 1.015625, 0.00253295898, 1}},
       {2, 3, {-0.0275421143, 6.65187836e-05, -6.83665276e-05, 1}}}}},
    {F::BC6H_SF16,
     0x65befc3ca8d0cb6f,
     0x4efbbcebcab6d1fe,
     {{{1, 2, {0.0053024292, -9.37581062e-05, 0.147949219, 1}},
       {0, 0, {0.00529098511, -9.39965248e-05, 0.14831543, 1}}}}},
    {F::BC6H_SF16,
     0xd508fc881e90b418,
     0x4dd3484f06240dc9,
     {{{1, 0, {1004.5, 6.58984375, 6.76512718e-05, 1}}, {0, 2, {866.5, 7.08984375, 7.86185265e-05, 1}}}}},
    {F::BC6H_SF16,
     0xddd5bae10f5afceb,
     0x44822da5eb247b16,
     {{{1, 0, {-1.81794167e-05, 1964, -16864, 1}}, {0, 2, {4.58955765e-06, 1622, -21392, 1}}}}},
    {F::BC6H_SF16, 0x5dfaafc1290f151f, 0x54b802b2f20e27f0, {{{0, 0, {0, 0, 0, 1}}, {3, 2, {0, 0, 0, 1}}}}},
    {F::BC6H_SF16,
     0xa79150d1027a194a,
     0xf7307a94d0e40321,
     {{{3, 0, {-918.5, 0.00521087646, 0.000547409058, 1}}, {2, 2, {-972.5, 0.00452804565, 0.000641345978, 1}}}}},
    {F::BC6H_SF16,
     0x8fd8f2d67c62dc66,
     0xa9a5e325f3af5c6f,
     {{{2, 1, {-0.0116729736, 0.00179958344, -0.00196075439, 1}},
       {1, 3, {-0.0126724243, 0.0019493103, -0.00194835663, 1}}}}},
    {F::BC6H_SF16, 0x1897145be4f48693, 0xca1f6253d2d592f6, {{{3, 3, {0, 0, 0, 1}}, {2, 1, {0, 0, 0, 1}}}}},
    {F::BC6H_SF16,
     0xaba92dc217297732,
     0x2076ec8b4cfd3f84,
     {{{2, 0, {-3.8671875, 6.09765625, 4.05311584e-05, 1}}, {1, 2, {-5.82421875, 5.3984375, 0.000516414642, 1}}}}},
    {F::BC6H_SF16,
     0x43679c2f2357a3ba,
     0x744d750208007848,
     {{{1, 0, {0.0044708252, -27.8125, -4112, 1}}, {0, 2, {0.00579833984, -32.34375, -3266, 1}}}}},
    {F::BC6H_SF16,
     0x611d1279c50392c3,
     0xe07ad6a788935af9,
     {{{0, 3, {-0.822265625, -3.56435776e-05, -0.0113754272, 1}},
       {3, 1, {-0.0261230469, -0.00364875793, -0.000443220139, 1}}}}},
    {F::BC6H_SF16, 0xd8fefdf530920777, 0xb2dc065d97f6bc06, {{{1, 0, {0, 0, 0, 1}}, {0, 2, {0, 0, 0, 1}}}}},
    {F::BC6H_SF16, 0xd5c80766805afe7b, 0x995ac78ada847f62, {{{1, 2, {0, 0, 0, 1}}, {0, 0, {0, 0, 0, 1}}}}},
    {F::BC6H_SF16,
     0x4b1ad3bc0c80c4c2,
     0x76bfbe22dce92e41,
     {{{0, 0, {-0.720214844, -303, -1.28222656, 1}}, {3, 2, {-0.742675781, -292.75, -1.21191406, 1}}}}},
    {F::BC6H_SF16,
     0xd11cf75c9292afd6,
     0x0acdce0f78d72b5e,
     {{{1, 2, {161, 0.00961303711, 7.47265625, 1}}, {0, 0, {161, 0.00961303711, 7.47265625, 1}}}}},
    {F::BC6H_UF16,
     0x6b94c1991a611421,
     0x24980673dfa7e716,
     {{{2, 0, {0.0676879883, 2.61914062, 8.3984375, 1}}, {1, 2, {0.00869750977, 2.2109375, 0.000309944153, 1}}}}},
    {F::BC6H_UF16,
     0x6faf293b942a6bf0,
     0xa3f84b1ae1a25222,
     {{{2, 2, {2398, 0.000186443329, 0.468994141, 1}}, {1, 0, {2458, 0.00018286705, 0.467773438, 1}}}}},
    {F::BC6H_UF16,
     0x849e52e9144c53ee,
     0x4c228a20d1683d60,
     {{{0, 0, {0.0250854492, 0.0155792236, 0.0120162964, 1}}, {3, 2, {0.0131912231, 0.0277862549, 0.00648117065, 1}}}}},
    {F::BC6H_UF16,
     0xe5be56cbdb16c306,
     0x8d2e6693e493ccef,
     {{{1, 3, {426.75, 490, 0.00577926636, 1}}, {0, 1, {391.5, 449.5, 0.00548553467, 1}}}}},
    {F::BC6H_UF16,
     0x6d0cf479891782ea,
     0x8cd92f159c46fed7,
     {{{1, 2, {2.13980675e-05, 0.0117034912, 0.000237822533, 1}},
       {0, 0, {2.15768814e-05, 0.0115890503, 0.000239372253, 1}}}}},
    {F::BC6H_UF16,
     0xce42b1cb238e7aeb,
     0x4c5a8cf149b9036a,
     {{{0, 0, {1.33398438, 0.457519531, 10.3203125, 1}}, {3, 2, {1.42285156, 0.465576172, 9.0859375, 1}}}}},
    {F::BC6H_UF16, 0x0eb7ce79d32fb91b, 0x8d4fc552e9ac64ec, {{{2, 3, {0, 0, 0, 1}}, {1, 1, {0, 0, 0, 1}}}}},
    {F::BC6H_UF16, 0xb763a47492b2b49f, 0x3a598fb307b3aa3b, {{{3, 2, {0, 0, 0, 1}}, {2, 0, {0, 0, 0, 1}}}}},
    {F::BC6H_UF16, 0xff06c42b065f6cf3, 0x890a6f040aa7a2d8, {{{1, 0, {0, 0, 0, 1}}, {0, 2, {0, 0, 0, 1}}}}},
    {F::BC6H_UF16,
     0x8295f71b69aa56de,
     0xd1c085f06829ac1e,
     {{{2, 1, {11.9140625, 74.75, 0.00182151794, 1}}, {1, 3, {0.00875091553, 992, 0.101989746, 1}}}}},
    {F::BC6H_UF16, 0x2836d4b30aa5ddd7, 0x3def36ab75a324fe, {{{2, 0, {0, 0, 0, 1}}, {1, 2, {0, 0, 0, 1}}}}},
    {F::BC6H_UF16,
     0xcd9576392b38ea0f,
     0x1e368eef0cdb51ea,
     {{{3, 0, {0.00331687927, 0.030960083, 11.8046875, 1}}, {2, 2, {0.00332260132, 0.0309448242, 11.7890625, 1}}}}},
    {F::BC6H_UF16,
     0xa8123fd55c1f2207,
     0x9a6beeca2429d909,
     {{{1, 1, {25.78125, 7.65919685e-05, 1553, 1}}, {0, 3, {24.921875, 0.000190138817, 495.25, 1}}}}},
    {F::BC6H_UF16,
     0xe5e084f35bede362,
     0x0d164d589e3fcd6b,
     {{{2, 1, {0.126831055, 0.999511719, 0.00280380249, 1}}, {1, 3, {0.118469238, 0.976074219, 0.00294303894, 1}}}}},
    {F::BC6H_UF16,
     0x3ffc5111fb9d8436,
     0x7fca4cb4e9750f96,
     {{{1, 3, {0.00063419342, 0.000383853912, 51648, 1}}, {0, 1, {0.00063419342, 0.000383853912, 51648, 1}}}}},
    {F::BC6H_UF16,
     0xf985caabe83306fa,
     0xea4e108296deed1d,
     {{{3, 3, {0.005443573, 0.220214844, 0.0719604492, 1}}, {2, 1, {0.0110626221, 0.254394531, 2.58684158e-05, 1}}}}},
    {F::BC6H_UF16,
     0xcfddff3e56379cf2,
     0x6f208828806818ee,
     {{{3, 1, {3980, 1.31835938, 0.00194740295, 1}}, {2, 3, {2910, 0.984863281, 0.000909328461, 1}}}}},
    {F::BC6H_UF16,
     0x483913b49e9af663,
     0xc15ccac9e3734fb5,
     {{{1, 2, {66.3125, 0.239379883, 23.59375, 1}}, {0, 0, {5464, 0.0311737061, 9.4609375, 1}}}}},
};

constexpr Vector kAstc[] = {
    {F::ASTC_LDR_2D_4X4_FLT16,
     0xb50decd4847f279f,
     0x8be87a16853f5e17,
     {{{3, 2, {106, 183, 190, 255}}, {2, 0, {92, 186, 179, 255}}}}},
    {F::ASTC_LDR_2D_4X4_FLT16,
     0x168361f000f16dbd,
     0xa4eac2023377331b,
     {{{3, 0, {71, 128, 128, 255}}, {2, 2, {128, 71, 71, 255}}}}},
    {F::ASTC_LDR_2D_4X4_FLT16,
     0x02479373bcd6a53f,
     0x14ecd9c1e4470f2c,
     {{{1, 2, {172, 171, 172, 205}}, {0, 0, {181, 169, 181, 220}}}}},
    {F::ASTC_LDR_2D_4X4_FLT16,
     0xf76725e1b2865842,
     0x5cc0ad460edf2fad,
     {{{0, 2, {99, 0, 124, 255}}, {3, 0, {200, 200, 200, 255}}}}},
    {F::ASTC_LDR_2D_4X4_FLT16,
     0x5312a1dcd8370dbe,
     0xd4801daa354b9aff,
     {{{3, 3, {84, 227, 28, 0}}, {2, 1, {84, 216, 39, 55}}}}},
    {F::ASTC_LDR_2D_4X4_FLT16,
     0xcf1917fce825f222,
     0xa40ce3cb88fd9a23,
     {{{2, 3, {17, 17, 17, 221}}, {1, 1, {107, 107, 107, 138}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0x4783042d1ebdac41,
     0x45f7c8cd8692cf5a,
     {{{0, 0, {72, 25, 30, 255}}, {3, 2, {255, 0, 255, 255}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0x686bd2823f300d2f,
     0x819d56a3593b036d,
     {{{3, 0, {48, 111, 224, 255}}, {1, 2, {45, 111, 228, 255}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0xf9edddf4ee46c052,
     0xf5b35745838a4866,
     {{{3, 3, {32, 110, 232, 255}}, {1, 1, {32, 112, 236, 255}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0xed4f4af4c66f0232,
     0x5425bd9b7c8f5f94,
     {{{2, 3, {73, 140, 146, 255}}, {0, 1, {77, 144, 142, 255}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0xf6922b36f936d422,
     0x9580c2921e161753,
     {{{2, 3, {183, 237, 109, 255}}, {0, 1, {68, 68, 68, 203}}}}},
    {F::ASTC_LDR_2D_5X4_FLT16,
     0xc85528167cfdbbae,
     0x166cb0f83ade0fd9,
     {{{2, 1, {0, 53, 107, 255}}, {0, 3, {0, 69, 139, 255}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0x7cbc5a0e765d8253,
     0xae12285671df8e6c,
     {{{1, 2, {69, 152, 181, 112}}, {4, 3, {69, 147, 148, 79}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0x580df27e56b20fae,
     0x5181ce75b790c9c9,
     {{{2, 4, {42, 34, 137, 255}}, {0, 0, {41, 44, 177, 255}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0xc1a42b3c02e615cd,
     0x7cc01d46d8e9f5a2,
     {{{1, 0, {157, 157, 157, 13}}, {4, 1, {190, 190, 190, 28}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0xb979a5cee3238c42,
     0x7822341cfe5a9dbd,
     {{{0, 4, {244, 108, 73, 255}}, {3, 0, {15, 30, 15, 255}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0x78c8445638fb28f3,
     0x474ddaccda61a7e7,
     {{{3, 3, {49, 49, 49, 255}}, {1, 4, {40, 40, 40, 255}}}}},
    {F::ASTC_LDR_2D_5X5_FLT16,
     0x051632def1735a81,
     0x80330cf4139325df,
     {{{3, 3, {255, 0, 255, 255}}, {1, 4, {239, 206, 102, 255}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0x5d3ccb2a9a18696f,
     0xace66eaa875aacab,
     {{{5, 0, {11, 18, 248, 172}}, {2, 1, {144, 196, 228, 121}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0x769babab5371a923,
     0x297421dc42d86c18,
     {{{1, 3, {178, 68, 157, 107}}, {4, 4, {115, 115, 115, 0}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0x7d4bf3ffcb69d0e1,
     0x2daad92fa3522721,
     {{{2, 0, {91, 144, 90, 255}}, {5, 1, {76, 136, 85, 255}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0x8467349d1444970d,
     0x3a47ce789e1439e7,
     {{{2, 1, {0, 27, 155, 186}}, {5, 2, {0, 33, 183, 186}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0xc5899948ab553142,
     0x5f5b7bc3d7f31e45,
     {{{1, 4, {255, 204, 102, 255}}, {4, 0, {239, 154, 152, 255}}}}},
    {F::ASTC_LDR_2D_6X5_FLT16,
     0xa646c39928e5395f,
     0x3ae1eea949ed4d23,
     {{{4, 0, {195, 195, 195, 255}}, {1, 1, {255, 0, 255, 255}}}}},
    {F::ASTC_LDR_2D_6X6_FLT16,
     0xea10426faab093df,
     0x284532f461845ecd,
     {{{3, 4, {171, 114, 75, 255}}, {0, 4, {196, 131, 86, 255}}}}},
    {F::ASTC_LDR_2D_6X6_FLT16,
     0xa5dc4f6cb3e80083,
     0x674aa3f378dfeac0,
     {{{2, 4, {201, 201, 201, 255}}, {5, 4, {162, 162, 162, 255}}}}},
    {F::ASTC_LDR_2D_6X6_FLT16,
     0x4ac016ed88c32d1f,
     0x6b5ea664dec8bfda,
     {{{2, 2, {79, 79, 73, 255}}, {5, 2, {71, 71, 77, 255}}}}},
    {F::ASTC_LDR_2D_6X6_FLT16,
     0xbc9fe03260089522,
     0x8878a80efd70b943,
     {{{0, 3, {57, 57, 70, 255}}, {3, 3, {134, 134, 126, 255}}}}},
    {F::ASTC_LDR_2D_6X6_FLT16,
     0xd5e1000ec2c2fbce,
     0x335c3eff67e2e181,
     {{{2, 5, {48, 48, 48, 0}}, {5, 5, {255, 0, 255, 255}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0x6dd9ac360a43ca06,
     0x6f564187c74d5e7a,
     {{{4, 1, {150, 150, 150, 132}}, {7, 2, {233, 233, 233, 64}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0xe519f0b788073025,
     0x04af9a0fe6ba7984,
     {{{0, 2, {93, 93, 93, 125}}, {3, 3, {85, 85, 85, 166}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0x95fca5e3626f6932,
     0x1731b6a2ec4e5845,
     {{{6, 1, {204, 204, 204, 255}}, {1, 2, {216, 216, 216, 255}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0x59865b8b88a341cf,
     0xceb2f84df476f850,
     {{{2, 1, {66, 161, 161, 77}}, {5, 2, {58, 140, 141, 96}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0xdc8d70d14e30a79f,
     0x9f68a132f6deeb0d,
     {{{3, 4, {157, 157, 157, 203}}, {6, 0, {144, 144, 144, 187}}}}},
    {F::ASTC_LDR_2D_8X5_FLT16,
     0x850e2a64d4fd5a93,
     0x4936ded2b6327c75,
     {{{7, 2, {65, 65, 65, 65}}, {2, 3, {69, 69, 69, 96}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0x6404b27d4ed53591,
     0x63028d29b44b17cb,
     {{{5, 5, {223, 225, 223, 111}}, {0, 5, {226, 232, 226, 113}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0xa08dc11090d68141,
     0x0a29558d005ca3f6,
     {{{5, 0, {87, 87, 87, 186}}, {0, 0, {107, 107, 107, 136}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0x61a40df7ca51933f,
     0x06d12c3700ffaeb4,
     {{{5, 1, {58, 58, 58, 30}}, {0, 1, {61, 61, 61, 29}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0x19d64527395d0213,
     0xd6904c273aaae19c,
     {{{5, 0, {93, 36, 29, 255}}, {0, 0, {125, 81, 89, 255}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0x3ef917c673e30035,
     0x160311f3f2959a4b,
     {{{6, 1, {122, 154, 153, 255}}, {1, 1, {168, 170, 131, 255}}}}},
    {F::ASTC_LDR_2D_8X6_FLT16,
     0x65196a47697519de,
     0xbcbb77c2a35eaaad,
     {{{7, 5, {199, 199, 199, 142}}, {2, 5, {142, 113, 28, 199}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0xf00e231e8cfa0303,
     0xaca842b9452d44b0,
     {{{7, 2, {114, 114, 114, 255}}, {2, 0, {77, 77, 77, 255}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0x061c0ec4f6b425ed,
     0x1ffc347b4ca1d716,
     {{{3, 3, {108, 108, 108, 255}}, {6, 1, {138, 138, 138, 255}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0x9a9011c51b7601d3,
     0x4df16ecb7000756b,
     {{{7, 4, {164, 164, 164, 255}}, {2, 2, {169, 169, 169, 255}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0x87c290ee525d2c19,
     0x9af28c833aa17db6,
     {{{5, 1, {162, 81, 255, 255}}, {0, 7, {162, 81, 255, 255}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0x3ac99fcb9acd2432,
     0x68e46aa04280b88d,
     {{{4, 6, {174, 206, 185, 255}}, {7, 4, {174, 206, 192, 255}}}}},
    {F::ASTC_LDR_2D_8X8_FLT16,
     0x063935b40545b0ae,
     0x18bcda0f650903e2,
     {{{4, 0, {122, 45, 107, 96}}, {7, 6, {223, 223, 223, 150}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0x4e36ee2e7942c332,
     0x1dbaf9f3b894add0,
     {{{8, 0, {126, 46, 17, 255}}, {1, 1, {119, 44, 16, 255}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0x7ac1d96b1937f045,
     0xf9893f4a97c47910,
     {{{7, 2, {18, 18, 18, 84}}, {0, 3, {27, 27, 27, 100}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0xb120835ed89655fd,
     0x11b24dc9ebcf0aad,
     {{{7, 3, {204, 204, 204, 167}}, {0, 4, {154, 65, 154, 171}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0x5fb8437f62df038f,
     0x0fbe8255627cc080,
     {{{5, 3, {123, 73, 82, 255}}, {8, 4, {127, 86, 96, 255}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0xda31214c496c00f1,
     0xedcec8acd7cc36b6,
     {{{0, 4, {36, 36, 36, 255}}, {3, 0, {86, 86, 86, 255}}}}},
    {F::ASTC_LDR_2D_10X5_FLT16,
     0x65ccf5b288156b01,
     0x69d3ba879402e463,
     {{{9, 2, {82, 82, 82, 197}}, {2, 3, {195, 195, 195, 159}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x6de01a11024d7217,
     0x519599b1b94bf587,
     {{{6, 2, {18, 18, 18, 255}}, {9, 2, {59, 59, 59, 255}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x90d9ac75a269a4a2,
     0xbb120a33ff296143,
     {{{8, 4, {109, 108, 156, 123}}, {1, 4, {109, 95, 169, 136}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x011e50fa45766d61,
     0xd7ce74009c01e8ec,
     {{{7, 5, {255, 0, 255, 255}}, {0, 5, {199, 199, 199, 255}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x1872f146538b079d,
     0xd81ab7027af0a2e0,
     {{{6, 1, {84, 73, 19, 255}}, {9, 1, {83, 83, 29, 255}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x567d82a3519ef095,
     0x0827629dcd86eeaf,
     {{{5, 3, {255, 0, 255, 255}}, {8, 3, {255, 0, 255, 255}}}}},
    {F::ASTC_LDR_2D_10X6_FLT16,
     0x5171a7fc92fed925,
     0x564be95ce2fef191,
     {{{7, 2, {255, 0, 255, 255}}, {0, 2, {255, 0, 255, 255}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0xf010ab47c4930113,
     0xe4969fa5941be44c,
     {{{3, 7, {198, 100, 99, 255}}, {6, 5, {176, 111, 83, 255}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0x0807fda00290505d,
     0x322bc2654a07b4e7,
     {{{1, 0, {57, 57, 57, 255}}, {4, 6, {17, 17, 17, 150}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0x31ff6bceabd020d6,
     0x4484ba4e07f16c18,
     {{{9, 2, {138, 138, 138, 255}}, {2, 0, {126, 126, 126, 255}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0x14fc55e320d881f2,
     0x195d45c626bdf8a5,
     {{{3, 4, {143, 143, 143, 158}}, {6, 2, {213, 213, 213, 142}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0xaa0faf42085500c7,
     0x4211af76f03805d5,
     {{{3, 0, {83, 32, 0, 255}}, {6, 6, {112, 60, 0, 255}}}}},
    {F::ASTC_LDR_2D_10X8_FLT16,
     0x9775230218dd7843,
     0x288f86389fbc6a87,
     {{{1, 0, {5, 5, 5, 255}}, {4, 6, {5, 5, 5, 255}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0x18e524dedc09a0c9,
     0xa388fc800cbd2e26,
     {{{2, 3, {1, 186, 59, 140}}, {5, 9, {2, 183, 57, 137}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0x5893aecca982a3b2,
     0x92896c60803ad8f6,
     {{{2, 0, {10, 10, 10, 82}}, {5, 6, {20, 20, 20, 75}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0xe5beeb731203a0f9,
     0x11e0e42a4379cc2d,
     {{{2, 4, {159, 97, 189, 201}}, {5, 0, {157, 92, 183, 203}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0x45cdcc171c21a04f,
     0x6115bbf3dd4f828a,
     {{{4, 2, {113, 94, 73, 99}}, {7, 8, {110, 93, 71, 103}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0xb61254304534557d,
     0xc0e512596efa5d33,
     {{{3, 3, {203, 203, 203, 133}}, {6, 9, {201, 201, 201, 136}}}}},
    {F::ASTC_LDR_2D_10X10_FLT16,
     0xb75cc8b50a012f8d,
     0xd75b928dc3ab370b,
     {{{0, 2, {46, 46, 46, 166}}, {3, 8, {95, 95, 95, 103}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0x7483e92140ac88a5,
     0x8cea6c0528c7e11c,
     {{{10, 3, {25, 25, 25, 255}}, {1, 9, {64, 64, 64, 255}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0x960ce0f624bf10e1,
     0x6a807a2b94965bab,
     {{{3, 6, {167, 167, 167, 255}}, {6, 2, {124, 124, 124, 255}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0xa4936643e169b3ce,
     0x271a7483ee937edd,
     {{{10, 5, {255, 0, 255, 255}}, {1, 1, {97, 97, 97, 33}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0x4be860d6b6fe0303,
     0xc543c8edaab9c448,
     {{{3, 0, {112, 112, 112, 255}}, {6, 6, {111, 111, 111, 255}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0x965eab2548677026,
     0x328136a1aee7687e,
     {{{2, 9, {102, 102, 102, 119}}, {5, 5, {125, 125, 125, 131}}}}},
    {F::ASTC_LDR_2D_12X10_FLT16,
     0x5e1bad81083098af,
     0xbfb38a143911d743,
     {{{11, 4, {102, 102, 102, 102}}, {2, 0, {62, 62, 62, 133}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0x2f06309d0777e9fe,
     0x0bf34e6f76887210,
     {{{11, 8, {63, 12, 79, 255}}, {2, 2, {40, 129, 129, 80}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0x413d393b1070ab21,
     0x1e3ce9a06fc284d6,
     {{{7, 8, {158, 36, 16, 255}}, {10, 2, {87, 171, 131, 255}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0x40dfd97a84b70d12,
     0xdaffedc98c85c587,
     {{{3, 6, {154, 77, 77, 255}}, {6, 0, {164, 154, 154, 255}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0xb3ccd5e9ced2b845,
     0x3330012610a7bad0,
     {{{9, 11, {68, 68, 68, 170}}, {0, 5, {238, 238, 238, 255}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0x892c0da336ee00d2,
     0x81f33a5ee676d743,
     {{{2, 8, {137, 137, 137, 255}}, {5, 2, {130, 130, 130, 255}}}}},
    {F::ASTC_LDR_2D_12X12_FLT16,
     0x8f62dcc08c063107,
     0x864ed2cf0f2688f4,
     {{{0, 2, {133, 111, 111, 255}}, {3, 8, {123, 136, 0, 255}}}}},
};

std::array<double, 4> texel(F format, uint64_t low, uint64_t high, unsigned x, unsigned y) {
  std::array<std::byte, 16> bytes{};
  std::memcpy(bytes.data(), &low, 8);
  std::memcpy(bytes.data() + 8, &high, 8);
  const BlockFormat* const is = block_format(format);
  EXPECT_NE(is, nullptr);
  const Texel raw = unpack_block_texel(*is, bytes.data(), x, y);
  std::array<double, 4> out{};
  for (unsigned i = 0; i < 4; ++i) {
    out[i] = static_cast<double>(std::bit_cast<float>(raw[i]));
  }
  return out;
}

constexpr std::array<double, 4> kMagenta{1, 0, 1, 1};

TEST(BlockVectors, Bc6hTexelsMatchTheReference) {
  for (const Vector& one : kBc6h) {
    for (const Sample& sample : one.samples) {
      const auto got = texel(one.format, one.low, one.high, sample.x, sample.y);
      for (unsigned i = 0; i < 4; ++i) {
        EXPECT_FLOAT_EQ(static_cast<float>(got[i]), static_cast<float>(sample.color[i])) << std::hex << one.low;
      }
    }
  }
}

TEST(BlockVectors, Bc6hReservedLayoutsAreBlack) {
  for (const uint64_t code : {0b10011u, 0b10111u, 0b11011u, 0b11111u}) {
    EXPECT_EQ(texel(F::BC6H_UF16, ~uint64_t{31} | code, ~uint64_t{0}, 1, 1), (std::array<double, 4>{0, 0, 0, 1}));
  }
}

// The largest unsigned value is the largest half float, 65504.
TEST(BlockVectors, Bc6hExtremesAreTheLargestHalfFloats) {
  const uint64_t low = 0b00011 | uint64_t{1023}
                                     << 5;  // endpoints of ten bits: red of the first endpoint; all others are zero
  EXPECT_EQ(texel(F::BC6H_UF16, low, 0, 2, 2), (std::array<double, 4>{65504, 0, 0, 1}));
  // 511 is the largest signed number of ten bits, and 512 is the smallest.
  EXPECT_EQ(texel(F::BC6H_SF16, 0b00011 | uint64_t{511} << 5, 0, 2, 2)[0], 65504);
  EXPECT_EQ(texel(F::BC6H_SF16, 0b00011 | uint64_t{512} << 5, 0, 2, 2)[0], -65504);
}

// Mesa returns eight bits, the model returns a half float.
TEST(BlockVectors, AstcTexelsMatchTheReference) {
  for (const Vector& one : kAstc) {
    for (const Sample& sample : one.samples) {
      const auto got = texel(one.format, one.low, one.high, sample.x, sample.y);
      for (unsigned i = 0; i < 4; ++i) {
        EXPECT_NEAR(got[i], sample.color[i] / 255, 1.1 / 255) << std::hex << one.low << ' ' << one.high;
      }
    }
  }
}

// Luminance of eight bits, and sixteen weights of two bits that start at the highest bit.
TEST(BlockVectors, AstcColoursAreInterpolatedByTheWeights) {
  const uint64_t low = 0x42 | uint64_t{40} << 17 | uint64_t{200} << 25;
  const uint64_t high = uint64_t{0b00'10'01'11} << 56;  // weights 0, 1, 2, 3, the lowest bit of each first
  constexpr std::array<unsigned, 4> kWeights{0, 21, 43, 64};
  for (unsigned x = 0; x < 4; ++x) {
    const unsigned wanted = (40 * 257 * (64 - kWeights[x]) + 200 * 257 * kWeights[x] + 32) / 64;
    const auto got = texel(F::ASTC_LDR_2D_4X4_FLT16, low, high, x, 0);
    // Half floats have eleven bits of precision; lower bits are dropped.
    const double step = std::exp2(std::floor(std::log2(wanted)) - 10);
    EXPECT_EQ(got[0], std::floor(wanted / step) * step / 65536) << x;
    EXPECT_EQ(got[2], got[0]);
    EXPECT_EQ(got[3], 1.0);
  }
  // sRGB: the 16-bit value is eight bits and 0x80; its upper eight bits are converted to linear.
  const unsigned eight = ((40 * 256 + 128) * (64 - 21) + (200 * 256 + 128) * 21 + 32) / 64 / 256;
  EXPECT_NEAR(texel(F::ASTC_LDR_2D_4X4_U8SRGB, low, high, 1, 0)[1], std::pow((eight / 255.0 + 0.055) / 1.055, 2.4),
              1e-6);
}

TEST(BlockVectors, AstcVoidExtentHasOneColour) {
  const uint64_t color = 0xffff'8000'4000'0000;
  EXPECT_EQ(texel(F::ASTC_LDR_2D_8X5_FLT16, ~uint64_t{0} << 12 | 0xdfc, color, 7, 4),
            (std::array<double, 4>{0, 0.25, 0.5, 1}));
  // A void extent for the texture range from 1 to 2 and from 3 to 4.
  const uint64_t extent = uint64_t{1} << 12 | uint64_t{2} << 25 | uint64_t{3} << 38 | uint64_t{4} << 51;
  EXPECT_EQ(texel(F::ASTC_LDR_2D_8X5_FLT16, extent | 0xdfc, color, 0, 0), (std::array<double, 4>{0, 0.25, 0.5, 1}));
  // A void extent that ends before it begins, high dynamic range, and required bits that are clear.
  const uint64_t turned = uint64_t{2} << 12 | uint64_t{1} << 25 | uint64_t{3} << 38 | uint64_t{4} << 51;
  EXPECT_EQ(texel(F::ASTC_LDR_2D_8X5_FLT16, turned | 0xdfc, color, 0, 0), kMagenta);
  EXPECT_EQ(texel(F::ASTC_LDR_2D_8X5_FLT16, ~uint64_t{0} << 12 | 0xffc, color, 0, 0), kMagenta);
  EXPECT_EQ(texel(F::ASTC_LDR_2D_8X5_FLT16, ~uint64_t{0} << 12 | 0x1fc, color, 0, 0), kMagenta);
}

TEST(BlockVectors, InvalidAstcBlocksAreMagenta) {
  const auto is_error = [](F format, uint64_t low) { return texel(format, low, 0, 1, 1) == kMagenta; };
  EXPECT_FALSE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0x42));
  EXPECT_TRUE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0));               // reserved
  EXPECT_TRUE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0x42 | 1u << 7));  // a weight grid of 5 for a block of 4
  EXPECT_FALSE(is_error(F::ASTC_LDR_2D_5X4_FLT16, 0x42 | 1u << 7));
  EXPECT_TRUE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0x51 & ~0x40u));     // weights of 16 bits: too few
  EXPECT_TRUE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0x42 | 2u << 13));   // high dynamic range
  EXPECT_TRUE(is_error(F::ASTC_LDR_2D_4X4_FLT16, 0x442 | 3u << 11));  // two planes with four partitions
}

}  // namespace
}  // namespace halogen::surface
