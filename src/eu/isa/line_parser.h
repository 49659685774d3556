// Parses one line of EU assembly into an instruction.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "eu/isa/tables.h"

namespace halogen::eu {

// An instruction whose targets may still be names of labels.
struct ParsedLine {
  Instruction instruction;
  std::string jip_label;
  std::string uip_label;
};

class LineParser {
 public:
  LineParser(spec::GenId gen, std::string_view text) : gen_(gen), tables_(isa_tables(gen)), text_(text) {}

  Result<ParsedLine> run();

 private:
  // Cursor
  void skip();
  [[nodiscard]] bool at_end();
  bool take(char c);
  bool take(std::string_view word);
  char peek();
  std::string word();  // letters, digits and underscores
  bool number(int64_t& out);
  bool fail(std::string message);

  // Parse the parts of a line, in order. False: error_ is set.
  bool predicate();
  bool mnemonic();
  bool suffix(std::string_view name);
  bool channels();
  bool flag_target();
  bool operands();
  bool options();
  bool option();

  bool flag();
  void write_mask();
  bool destination();
  bool source(unsigned index);
  bool location(Operand& operand);
  bool register_name(Operand& operand);
  bool address(Operand& operand);
  bool subregister(Operand& operand);
  bool region(Operand& operand, unsigned index);
  bool swizzle(Operand& operand);
  bool type(Type& out);
  bool immediate(Operand& operand);
  bool targets();
  bool target(bool& has, int32_t& distance, std::string& label);
  bool whole(Operand& operand, bool dst);
  bool send();
  bool descriptor(bool& in_register, uint32_t& value, uint8_t& sub);
  bool scoreboard_token();
  void set_sub(Operand& operand) const;

  spec::GenId gen_;
  const IsaTables& tables_;
  std::string_view text_;
  size_t at_ = 0;
  const OpRow* row_ = nullptr;
  ParsedLine out_;
  std::string error_;
  bool function_in_extended_ = false;  // a send in the syntax of IGA before Gen12
  int distance_ = -1;                  // scoreboard distance; -1: not given
  int token_ = -1;                     // code of the scoreboard token without distance; -1: not given
  int sub_elements_ = -1;              // subregister of the current operand in elements; -1: Operand::sub is set
};

}  // namespace halogen::eu
