// The effect of MI commands in a batch without privilege: the tables of DG1 PRM vol. 13 (seed 000: "User Mode
// Privileged Commands") and G45 PRM vol. 1b 1.5.2 (seed 003), typed from there. The command streamer applies the rules;
// its tests are elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "covers.h"
#include "spec/device_model.h"
#include "spec/field_visitor.h"

namespace halogen::spec_mi {
namespace {

using spec::CommandDesc;
using spec::GenId;
using spec::PrivilegeRule;
using Effect = spec::PrivilegeEffect;

struct Row {
  std::string_view command;
  Effect effect;
  std::string_view when = "";
  std::string_view register_field = "";
};
using Key = std::tuple<std::string_view, Effect, std::string_view, std::string_view>;

std::vector<Key> keys(const std::vector<Row>& rows) {
  std::vector<Key> out;
  for (const Row& r : rows) out.emplace_back(r.command, r.effect, r.when, r.register_field);
  std::ranges::sort(out);
  return out;
}

// Every rule of every command of a generation that has a device.
std::vector<Key> all_rules(GenId gen) {
  std::vector<Key> out;
  for (const CommandDesc* c : spec::commands()) {
    for (const PrivilegeRule& rule : c->privilege) {
      if ((rule.gens & spec::mask_of(gen)) != 0) {
        out.emplace_back(c->name, rule.effect, rule.when, rule.register_field);
      }
    }
  }
  std::ranges::sort(out);
  return out;
}

// Returns the position of the bit that a condition tests.
unsigned bit_of(std::string_view command, GenId gen, std::string_view field) {
  const spec::FieldDesc* found = spec::find_field(*spec::find_command(command), gen, field);
  return found == nullptr ? ~0u : found->first_bit;
}

const std::vector<Row> kUserModePrivilegedCommands = {
    {"MI_UPDATE_GTT", Effect::noop},
    {"MI_STORE_DATA_IMM", Effect::noop, "use_global_gtt"},
    {"MI_STORE_DATA_INDEX", Effect::noop},
    {"MI_STORE_REGISTER_MEM", Effect::drop_write, "use_global_gtt"},
    {"MI_BATCH_BUFFER_START", Effect::parent_privilege},
    {"MI_LOAD_REGISTER_IMM", Effect::noop, "", "register_offset"},
    {"MI_LOAD_REGISTER_MEM", Effect::noop, "use_global_gtt"},
    {"MI_LOAD_REGISTER_MEM", Effect::noop, "", "register_address"},
    {"MI_LOAD_REGISTER_REG", Effect::drop_write, "", "destination_register_address"},
    {"MI_REPORT_PERF_COUNT", Effect::noop, "use_global_gtt"},
    {"PIPE_CONTROL", Effect::drop_post_sync, "destination_address_type"},
    {"PIPE_CONTROL", Effect::drop_post_sync, "store_data_index"},
    {"PIPE_CONTROL", Effect::drop_post_sync, "lri_post_sync_operation", "address"},
    {"MI_SET_CONTEXT", Effect::noop},
    {"MI_ATOMIC", Effect::noop, "memory_type"},
    {"MI_COPY_MEM_MEM", Effect::noop, "use_global_gtt_source"},
    {"MI_COPY_MEM_MEM", Effect::noop, "use_global_gtt_destination"},
    {"MI_SEMAPHORE_WAIT", Effect::noop, "memory_type"},
    {"MI_ARB_ON_OFF", Effect::noop},
    {"MI_DISPLAY_FLIP", Effect::noop},
    {"MI_CONDITIONAL_BATCH_BUFFER_END", Effect::noop, "use_global_gtt"},
    // The manual's cell is blank; treated like PIPE_CONTROL.
    {"MI_FLUSH_DW", Effect::drop_post_sync, "destination_address_type"},
    {"MI_FLUSH_DW", Effect::drop_post_sync, "store_data_index"},
};

TEST(PrivilegeRules, Gen12HasExactlyTheManualsTable) {
  COVERS("DG1-PRIV-03");
  EXPECT_EQ(all_rules(GenId::gen12), keys(kUserModePrivilegedCommands));
  // "Use Global GTT" in the manual is bit 22 of the header, except where the command has other bits there.
  for (const std::string_view name :
       {"MI_STORE_DATA_IMM", "MI_STORE_REGISTER_MEM", "MI_LOAD_REGISTER_MEM", "MI_CONDITIONAL_BATCH_BUFFER_END"}) {
    EXPECT_EQ(bit_of(name, GenId::gen12, "use_global_gtt"), 22u) << name;
  }
  for (const std::string_view name : {"MI_ATOMIC", "MI_SEMAPHORE_WAIT"}) {
    EXPECT_EQ(bit_of(name, GenId::gen12, "memory_type"), 22u) << name;
  }
  EXPECT_EQ(bit_of("MI_COPY_MEM_MEM", GenId::gen12, "use_global_gtt_source"), 22u);
  EXPECT_EQ(bit_of("MI_COPY_MEM_MEM", GenId::gen12, "use_global_gtt_destination"), 21u);
  EXPECT_EQ(bit_of("MI_REPORT_PERF_COUNT", GenId::gen12, "use_global_gtt"), 32u);
  EXPECT_EQ(bit_of("PIPE_CONTROL", GenId::gen12, "destination_address_type"), 32u + 24);
  EXPECT_EQ(bit_of("PIPE_CONTROL", GenId::gen12, "store_data_index"), 32u + 21);
  EXPECT_EQ(bit_of("PIPE_CONTROL", GenId::gen12, "lri_post_sync_operation"), 32u + 23);
  EXPECT_EQ(bit_of("MI_FLUSH_DW", GenId::gen12, "destination_address_type"), 32u + 2);
  EXPECT_EQ(bit_of("MI_FLUSH_DW", GenId::gen12, "store_data_index"), 21u);
}

TEST(PrivilegeRules, ExeclistGenerationsShareTheTable) {
  for (const GenId gen : {GenId::gen8, GenId::gen9, GenId::gen11}) {
    EXPECT_EQ(all_rules(gen), keys(kUserModePrivilegedCommands)) << name_of(gen);
  }
}

// Sandy Bridge: no register write, no flip, no status page; stores stay in the table of the process.
TEST(PrivilegeRules, Gen6ForbidsRegisterWritesAndFlips) {
  EXPECT_EQ(all_rules(GenId::gen6), keys({
                                        {"MI_ARB_ON_OFF", Effect::noop},
                                        {"MI_LOAD_REGISTER_IMM", Effect::noop},
                                        {"MI_UPDATE_GTT", Effect::noop},
                                        {"MI_STORE_DATA_IMM", Effect::per_process_table},
                                        {"MI_STORE_DATA_INDEX", Effect::noop},
                                        {"MI_STORE_REGISTER_MEM", Effect::per_process_table},
                                        {"MI_REPORT_PERF_COUNT", Effect::noop, "use_global_gtt"},
                                        {"MI_DISPLAY_FLIP", Effect::noop},
                                        {"MI_SEMAPHORE_MBOX", Effect::per_process_table},
                                        {"PIPE_CONTROL", Effect::drop_post_sync, "store_data_index"},
                                        {"MI_FLUSH_DW", Effect::drop_post_sync, "store_data_index"},
                                    }));
}

TEST(PrivilegeRules, Gen45HasItsOwnTable) {
  EXPECT_EQ(all_rules(GenId::gen4_5), keys({
                                          {"MI_ARB_ON_OFF", Effect::noop},
                                          {"MI_LOAD_REGISTER_IMM", Effect::drop_write},
                                          {"MI_UPDATE_GTT", Effect::drop_write},
                                          {"MI_STORE_DATA_IMM", Effect::per_process_table},
                                          {"MI_STORE_DATA_INDEX", Effect::per_process_page},
                                          {"MI_STORE_REGISTER_MEM", Effect::drop_write},
                                          {"MI_DISPLAY_FLIP", Effect::noop},
                                          // G45 PRM vol. 1b 2.6 (seed 003): the video streamer executes it as a
                                          // no-operation.
                                          {"MI_LOAD_REGISTER_IMM_VCE", Effect::noop},
                                          // G45 PRM vol. 1b 2.9 and 3.4 (seed 003): the global table requires a secure
                                          // batch.
                                          {"MI_STORE_DATA_IMM_VCE", Effect::per_process_table},
                                          {"MI_SEMAPHORE_MBOX", Effect::per_process_table},
                                      }));
}

// G45 PRM vol. 1b 1.8, 1.16, 1.18 (seed 003): the notes on non-secure batches.
TEST(PrivilegeRules, Gen4ForbidsRegisterAndMemoryWrites) {
  EXPECT_EQ(all_rules(GenId::gen4), keys({
                                        {"MI_LOAD_REGISTER_IMM", Effect::noop},
                                        {"MI_STORE_DATA_IMM", Effect::drop_write},
                                        {"MI_STORE_REGISTER_MEM", Effect::drop_write},
                                    }));
}

}  // namespace
}  // namespace halogen::spec_mi
