// Fields that the model does not read are found if they are set. Positions are those of the manuals.
#include "spec/unread.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "hw/3d_vertex.h"
#include "hw/sampler.h"
#include "hw/surface.h"

namespace halogen::spec {
namespace {

using Names = std::map<std::string, std::string>;

Names names_of(const UnreadFields& fields) {
  FidelityReport report;
  fields.report(report);
  Names names;
  for (const auto& [key, entry] : report.entries()) {
    EXPECT_EQ(key.first, FidelityKind::field);
    EXPECT_EQ(entry.fidelity, FidelityClass::approximate);
    names.emplace(key.second, entry.reason);
  }
  return names;
}

TEST(Unread, FieldWithDefaultValueIsNotNoted) {
  UnreadFields fields;
  std::array<uint32_t, 4> sampler{2u << 27 | 3u << 20, 0, 0, 0};  // the clamp of OpenGL, which the model implements
  EXPECT_EQ(fields.note(hw::SAMPLER_STATE::kDesc, GenId::gen9, sampler), nullptr);
  EXPECT_TRUE(names_of(fields).empty());
  sampler[1] = 1u << 7;  // chroma key enable
  const UnreadDesc* const found = fields.note(hw::SAMPLER_STATE::kDesc, GenId::gen9, sampler);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "SAMPLER_STATE.chroma_key_enable");
  EXPECT_EQ(found->text, std::string(found->name) + " is not looked at: " + std::string(found->reason));
  const Names names = names_of(fields);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names.begin()->first, found->name);
  EXPECT_EQ(names.begin()->second, found->reason);
}

TEST(Unread, ConditionalFieldIsNotedOnlyIfItsConditionHolds) {
  UnreadFields fields;
  std::array<uint32_t, 16> surface{};
  surface[5] = 15u << 8;  // first level of the mip tail, as drivers write it for surfaces without a mip tail
  EXPECT_EQ(fields.note(hw::RENDER_SURFACE_STATE::kDesc, GenId::gen9, surface), nullptr);
  surface[5] |= 1u << 18;  // a tiled resource
  const UnreadDesc* const found = fields.note(hw::RENDER_SURFACE_STATE::kDesc, GenId::gen9, surface);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "RENDER_SURFACE_STATE.mip_tail_start_lod");
  // Face enables have an effect for cubes only.
  surface = {3u << 29 | 0x3f};
  EXPECT_EQ(fields.note(hw::RENDER_SURFACE_STATE::kDesc, GenId::gen9, surface), nullptr);
  surface = {1u << 29};
  EXPECT_EQ(fields.note(hw::RENDER_SURFACE_STATE::kDesc, GenId::gen9, surface), nullptr);
  surface = {3u << 29 | 0x3e};
  EXPECT_NE(fields.note(hw::RENDER_SURFACE_STATE::kDesc, GenId::gen9, surface), nullptr);
}

TEST(Unread, EachElementOfAGroupIsChecked) {
  constexpr uint32_t kModify = 1u << 14;
  const std::array<uint32_t, 9> buffers{0x7808'0007, kModify | 16, 0, 0, 0, 1u << 26 | kModify | 16, 0, 0, 0};
  UnreadFields fields;
  EXPECT_EQ(fields.note(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, GenId::gen8, buffers), nullptr);
  std::array<uint32_t, 9> second = buffers;
  second[5] &= ~kModify;
  EXPECT_EQ(fields.note(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, GenId::gen8, std::span(second).first(5)), nullptr)
      << "fields beyond the end are absent";
  const UnreadDesc* const found = fields.note(hw::_3DSTATE_VERTEX_BUFFERS::kDesc, GenId::gen8, second);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "VERTEX_BUFFER_STATE.address_modify_enable");
}

TEST(Unread, NotesAreMerged) {
  UnreadFields worker;
  worker.note(hw::SAMPLER_STATE::kDesc, GenId::gen9, std::array<uint32_t, 4>{2u << 27, 1u << 7, 0, 0});
  UnreadFields main;
  main.merge(worker);
  main.merge(worker);
  EXPECT_EQ(names_of(main), names_of(worker));
  FidelityReport report;
  main.report(report);
  EXPECT_EQ(report.entries().begin()->second.count, 1u);
  EXPECT_NE(report.to_json("x").find("\"fields\":[{\"name\":\"SAMPLER_STATE.chroma_key_enable\",\"count\":1,"
                                     "\"class\":\"approximate\",\"reason\":"),
            std::string::npos);
}

}  // namespace
}  // namespace halogen::spec
