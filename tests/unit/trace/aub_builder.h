// Builds small AUB files in memory, record by record, from the format's description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace halogen::trace {

class AubBuilder {
 public:
  static constexpr uint32_t kTrace = 0x2e;
  static constexpr uint32_t kClassic = 0x01;

  static constexpr uint32_t header(uint32_t opcode, uint32_t sub, uint32_t length) {
    return (7u << 29) | (opcode << 23) | (sub << 16) | length;
  }

  AubBuilder& dwords(std::initializer_list<uint32_t> values) {
    dwords_.insert(dwords_.end(), values);
    return *this;
  }
  AubBuilder& dwords(std::span<const uint32_t> values) {
    dwords_.insert(dwords_.end(), values.begin(), values.end());
    return *this;
  }

  // Adds a record of the newer family, whose length field counts the dwords after the header.
  AubBuilder& trace(uint32_t sub, const std::vector<uint32_t>& body) {
    dwords({header(kTrace, sub, static_cast<uint32_t>(body.size()))});
    return dwords(body);
  }
  // Adds a classic record, whose length field is one less.
  AubBuilder& classic(uint32_t sub, const std::vector<uint32_t>& body) {
    dwords({header(kClassic, sub, static_cast<uint32_t>(body.size()) - 1)});
    return dwords(body);
  }

  AubBuilder& version(uint32_t device_code, std::string_view text = "test") {
    std::vector<uint32_t> body{1, 0x1004'0000u | (device_code << 8), 0, 0};
    append_text(body, text);
    return trace(0x0e, body);
  }
  AubBuilder& comment(std::string_view text) {
    std::vector<uint32_t> body{0};
    append_text(body, text);
    return trace(0x08, body);
  }
  AubBuilder& write_register(uint32_t offset, uint32_t value) {
    return trace(0x03, {offset, 0x0002'0000, 0xffff'ffff, 0, value});
  }
  AubBuilder& write_memory(uint32_t space, uint64_t address, std::span<const uint32_t> data, uint32_t hint = 0) {
    std::vector<uint32_t> body{static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32),
                               (space << 28) | (hint << 20), static_cast<uint32_t>(data.size_bytes())};
    body.insert(body.end(), data.begin(), data.end());
    return trace(0x06, body);
  }
  AubBuilder& write_memory(uint32_t space, uint64_t address, std::initializer_list<uint32_t> data) {
    return write_memory(space, address, std::span(data.begin(), data.size()));
  }
  AubBuilder& write_qword(uint32_t space, uint64_t address, uint64_t value) {
    return write_memory(space, address, {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
  }

  static void append_text(std::vector<uint32_t>& body, std::string_view text) {
    const size_t at = body.size();
    body.resize(at + text.size() / 4 + 1);  // with space for at least one NUL
    std::memcpy(body.data() + at, text.data(), text.size());
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(dwords_)); }
  std::vector<uint32_t>& raw() { return dwords_; }

 private:
  std::vector<uint32_t> dwords_;
};

// Adds an Ice Lake context with its image at `image` of the global table. Its ring executes one MI_STORE_DATA_IMM to
// address 0x5010 of the process; that page is `page`, and the tables start at `tables`. The page is also at address
// 0xffff'8000'0000'5000. The global table maps 0x1000 to 0xbfff.
inline void add_icl_context(AubBuilder& aub, uint32_t value = 0x1234'5678, uint32_t image = 0x6000,
                            uint32_t ring = 0x2000, uint32_t tables = 0x10'0000, uint32_t page = 0x4'0000) {
  constexpr uint32_t kSystem = 2, kGgttEntry = 4;
  for (uint32_t entry = 1; entry < 12; ++entry) aub.write_qword(kGgttEntry, entry * 8, entry * 0x1000u | 1);
  aub.write_register(0x229c, 0x8000'8000).write_register(0x2080, 0x1000);
  aub.write_memory(kSystem, image + 0x1000,
                   {0, 0x1100'100f, 0x2244, 0x0009'0009, 0x2034, 0, 0x2030, 16, 0x2038, ring, 0x203c, 0x1, 0x2274, 0,
                    0x2270, tables, 0x2244, 0x0009'0009, 0x0500'0000});
  for (uint32_t level = 0; level < 3; ++level) {
    aub.write_qword(kSystem, tables + level * 0x1000, (tables + (level + 1) * 0x1000) | 3);
  }
  aub.write_qword(kSystem, tables + 256 * 8, (tables + 0x1000) | 3);
  aub.write_qword(kSystem, tables + 0x3000 + 5 * 8, page | 3);
  aub.write_memory(kSystem, ring, {0x1000'0002, 0x5010, 0, value});
  aub.write_register(0x2510, image | 0x119).write_register(0x2514, 0).write_register(0x2550, 1);
}

}  // namespace halogen::trace
