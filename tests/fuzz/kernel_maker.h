// Kernels in assembly from few input bytes: instructions, branches and loops, messages to every shared function with
// descriptors that drivers use and with changed ones. Each piece assembles on the generation or is left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eu/isa/assembler.h"
#include "fuzz/input.h"

namespace halogen::fuzz {

class KernelMaker {
 public:
  struct Known {
    const char* function;
    uint32_t descriptor;
  };

  explicit KernelMaker(spec::GenId gen) : gen_(gen) {}

  // Returns one of the messages that drivers' kernels send.
  static const Known& known(size_t which) { return kMessages[which % kMessages.size()]; }

  // Returns code of up to `most` pieces. The caller appends an end.
  std::vector<std::byte> body(Input& in, unsigned most) {
    if (cache_.size() > kMaxTexts) cache_.clear();
    std::vector<std::byte> code;
    for (unsigned more = in.take<uint8_t>() % (most + 1); more != 0 && !in.empty(); --more) append(code, piece(in));
    return code;
  }

  // Returns the first of several texts that the generation accepts. Empty: none.
  const std::vector<std::byte>& first_of(std::initializer_list<std::string> texts) {
    const auto found = cache_.find(*texts.begin());
    if (found != cache_.end()) return found->second;
    std::vector<std::byte>& code = cache_[*texts.begin()];
    for (const std::string& text : texts) {
      if (const auto made = eu::assemble(gen_, text); made.ok()) {
        code = *made;
        break;
      }
    }
    return code;
  }

  // Returns a message with every form of sources that generations have. `data`: the register of the second source.
  const std::vector<std::byte>& message(std::string_view function, unsigned lanes, unsigned dst, unsigned src,
                                        uint32_t descriptor, bool end = false) {
    const std::string head = "send." + std::string(function) + " (" + std::to_string(lanes) + "|M0) ";
    const std::string to = (descriptor >> 20 & 31) == 0 ? "null" : "r" + std::to_string(dst);
    const std::string typed = to + (to == "null" ? ":ud" : ".0<1>:ud");
    const std::string from = std::to_string(src);
    char tail[48];
    std::snprintf(tail, sizeof tail, " 0x0 0x%08x%s", descriptor, end ? " {EOT}" : "");
    return first_of({head + to + " r" + from + tail, head + to + " r" + from + " null" + tail, head + to + " m1" + tail,
                     head + typed + " m1 r" + from + ".0<8;8,1>:ud" + tail});
  }

  static void append(std::vector<std::byte>& code, const std::vector<std::byte>& more) {
    code.insert(code.end(), more.begin(), more.end());
  }

 private:
  // Length, response, header, message and surface 0 of messages: untyped and scattered reads and writes, atomics,
  // blocks, samples, sizes, barriers, render targets, memory fences.
  static constexpr std::array<Known, 26> kMessages{{
      {"dc1", 0x0210'6e00},  {"dc1", 0x0402'6e00},  {"dc1", 0x0420'5e00},  {"dc1", 0x0802'5e00},  {"dc1", 0x0410'b700},
      {"dc1", 0x0410'ac00},  {"dc0", 0x0218'0200},  {"dc0", 0x040a'8200},  {"dc0", 0x0219'e000},  {"dc0", 0x0210'0600},
      {"dc0", 0x0403'0000},  {"dc1", 0x0619'4000},  {"dc1", 0x0409'5000},  {"smpl", 0x0442'0001}, {"smpl", 0x0642'2001},
      {"smpl", 0x0443'a000}, {"smpl", 0x0842'7001}, {"smpl", 0x0c84'0001}, {"gtwy", 0x0200'0004}, {"rc", 0x0803'1400},
      {"rc", 0x0a0b'1400},   {"urb", 0x0608'0007},  {"urb", 0x0228'0008},  {"dcro", 0x0228'0300}, {"dprd", 0x0218'0300},
      {"dpwr", 0x0608'0300},
  }};
  static constexpr std::array<const char*, 22> kTexts{
      "mov (8|M0) r120.0<1>:ud r2.0<8;8,1>:ud\nmov (8|M0) r121.0<1>:ud r3.0<8;8,1>:ud\n",
      "mov (8|M0) r120.0<1>:f 0.5:f\nmov (8|M0) r123.0<1>:f 1.0:f\n",
      "(W) mov (8|M0) r10.0<1>:ud r0.0<8;8,1>:ud\n",
      "mov (8|M0) r10.0<1>:ud 0x40:ud\n",
      "(W) mov (8|M0) r12.0<1>:uw 0x76543210:v\n(W) mov (8|M0) r10.0<1>:ud r12.0<8;8,1>:uw\n",
      "(W) shl (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x2:ud\n",
      "add (8|M0) r11.0<1>:f r2.0<8;8,1>:f r10.0<0;1,0>:f\n",
      "mul (16|M0) r14.0<1>:f r2.0<8;8,1>:f r4.0<8;8,1>:f\n",
      "mad (8|M0) r20.0<4>:f r2.0<4>.xyzw:f r4.0<4>.xyzw:f r6.0<4>.xyzw:f {Align16}\n",
      "mad (8|M0) r20.0<1>:f r2.0<8;1>:f r4.0<8;1>:f r6.0<1>:f\n",
      "cmp (8|M0) (lt)f0.0 null:f r2.0<8;8,1>:f r3.0<8;8,1>:f\n",
      "(f0.0) sel (8|M0) r22.0<1>:ud r2.0<8;8,1>:ud r3.0<8;8,1>:ud\n",
      "math.inv (8|M0) r24.0<1>:f r2.0<8;8,1>:f\n",
      "(f0.0) if (8|M0) L1 L1\nadd (8|M0) r10.0<1>:ud r10.0<8;8,1>:ud 0x4:ud\nL1:\nendif (8|M0) L2\nL2:\n",
      "(W) mov (8|M0) r100.0<1>:ud 0x5:ud\nL0:\n(W) add (8|M0) r100.0<1>:d r100.0<8;8,1>:d -1:d\n"
      "(W) cmp (8|M0) (ne)f0.0 null<1>:d r100.0<8;8,1>:d 0:d\n(W&f0.0) jmpi L0\n",
      "(W) mov (1|M0) a0.0<1>:uw 0x140:uw\nmov (8|M0) r26.0<1>:ud r[a0.0]<8;8,1>:ud\n",
      "(W) mov (1|M0) f0.0<1>:uw 0x5a:uw\n",
      "(W) wait (1|M0) n0.0<0;1,0>:ud\n",
      "(W) sync.bar (1|M0) null\n",
      "(f0.0) halt (8|M0) L1 L1\nL1:\nhalt (8|M0) L2 L2\nL2:\n",
      "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n(W) mov (8|M0) m2.0<1>:ud r2.0<8;8,1>:ud\n",
      "mov (8|M0) r10.0<1>:df r2.0<4;4,1>:df\n",
  };

  std::vector<std::byte> piece(Input& in) {
    const auto kind = in.take<uint8_t>();
    if (kind < 0x60) return first_of({kTexts[kind % kTexts.size()]});
    if (kind < 0xe0) return send(in, kMessages[kind % kMessages.size()]);
    std::array<std::byte, 16> raw{};  // any bits
    in.take_to(raw);
    return {raw.begin(), raw.end()};
  }

  std::vector<std::byte> send(Input& in, const Known& known) {
    // A changed descriptor keeps its lengths within a few registers, mostly.
    const uint32_t how = in.take<uint8_t>();
    uint32_t descriptor = known.descriptor;
    descriptor |= how & 7;  // the surface
    if ((how & 0x18) == 0) descriptor ^= uint32_t{1} << in.take<uint8_t>() % 32;
    if ((how & 0x18) == 8) descriptor = (descriptor & 0xfff8'00ff) | (uint32_t{in.take<uint16_t>()} << 8 & 0x7'ff00);
    if ((how & 0x60) == 0) descriptor |= 0xff;  // stateless or local memory
    if ((how & 0x60) == 0x20) descriptor |= 0xfe;
    const unsigned src = how < 0xc0 ? 2 : 2 + (how >> 3 & 7) * 4;
    return message(known.function, (how & 0x10) != 0 ? 16 : 8, 40 + (how & 3) * 8, src, descriptor);
  }

  static constexpr size_t kMaxTexts = 4096;

  spec::GenId gen_;
  std::map<std::string, std::vector<std::byte>> cache_;
};

}  // namespace halogen::fuzz
