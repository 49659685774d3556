"""eu/message_fields.h and eu/message_data.cpp: message descriptors, for printing and for execution."""

from cppnames import KEYWORDS, pascal
from emit_types import NOTE


def _word(name):
    if name in KEYWORDS:
        return name + "_"
    return "n" + name if name[0].isdigit() else name


def _members(eu):
    """field -> (widest, words in order of appearance); a field that some layout gives words is an enumeration."""
    members = {}
    for m in eu.messages:
        for name, (_, width), values in m.fields:
            widest, words = members.setdefault(name, (0, {}))
            members[name] = (max(widest, width), words)
            words.update(dict.fromkeys(values))
        for name, word in m.fixed:
            members.setdefault(name, (0, {}))[1][word] = None
    return members


def _type(name, width, words):
    if words:
        return pascal(name)
    return "bool" if width == 1 else "uint8_t" if width <= 8 else "uint16_t" if width <= 16 else "uint32_t"


def header(spec):
    eu = spec.eu
    members = _members(eu)
    out = [NOTE + "#pragma once", "", "#include <cstdint>", "#include <string_view>", "", "namespace halogen::eu {", ""]
    out += ["// Shared functions by what they are, whatever their number is on a generation.", "enum class SharedFunction : uint8_t {", "  none,"]
    out += [f"  {_word(name)}," for name in eu.functions] + ["};", ""]
    out += ["// Function control by meaning: the same members and words on every generation. A field that a message lacks is zero,",
            "// a number without a word is `other`.", "struct MessageControl {"]
    for name, (_, words) in members.items():
        if words:
            out += [f"  enum class {pascal(name)} : uint8_t {{", "    other,"] + [f"    {_word(w)}," for w in words] + ["  };"]
    out += ["", "  SharedFunction function = SharedFunction::none;"]
    for name, (width, words) in members.items():
        start = f"{pascal(name)}::other" if words else "false" if width == 1 else "0"
        out.append(f"  {_type(name, width, words)} {_word(name)} = {start};")
    types = members.get("type", (0, {}))[1]
    out += ["};", "", f"inline constexpr unsigned kMessageTypes = {len(types) + 1};",
            "// \"untyped_read\"; empty for `other`.", "std::string_view type_name(unsigned type);",
            f"inline constexpr unsigned kSharedFunctions = {len(eu.functions) + 1};", "", "}  // namespace halogen::eu", ""]
    return "\n".join(out)


def _unpack(members, m):
    rows = []
    for name, (low, width), values in m.fields:
        widest, words = members[name]
        raw = f"d >> {low}u & {(1 << width) - 1:#x}u"
        if words and values:
            cases = " ".join(f"case {v}: return MessageControl::{pascal(name)}::{_word(w)};" for w, v in values.items())
            rows.append(f"  c.{_word(name)} = [&] {{ switch ({raw}) {{ {cases} default: return MessageControl::{pascal(name)}::other; }} }}();")
        elif not words:
            kind = _type(name, widest, words)
            rows.append(f"  c.{_word(name)} = ({raw}) != 0;" if kind == "bool" else f"  c.{_word(name)} = static_cast<{kind}>({raw});")
    rows += [f"  c.{_word(name)} = MessageControl::{pascal(name)}::{_word(word)};" for name, word in m.fixed]
    rows.append(f"  c.function = SharedFunction::{_word(m.function)};")
    return [f"void unpack_{m.name}([[maybe_unused]] uint32_t d, MessageControl& c) {{"] + rows + ["}"]


def data(spec):
    eu = spec.eu
    members = _members(eu)
    out = [NOTE + '#include "eu/isa/messages.h"', "", "namespace halogen::eu {", "", "namespace {", ""]
    functions, messages = [], []
    for name, codes in eu.functions.items():
        for code in sorted(set(codes.values())):
            mask = sum(1 << gen for gen, c in codes.items() if c == code)
            functions.append(f'    {{"{name}", SharedFunction::{_word(name)}, {code}, {mask:#x}}},')
    for m in eu.messages:
        rows = []
        for name, (low, width), values in m.fields:
            words = "{}"
            if values:
                words = f"k_{m.name}_{name}"
                out.append(f"constexpr MessageWord {words}[] = {{" + ", ".join(f'{{"{w}", {v}}}' for w, v in values.items()) + "};")
            rows.append(f'{{"{name}", {{{low}, {width}}}, {words}}}')
        out.append(f"constexpr MessageField k_{m.name}[] = {{{', '.join(rows)}}};")
        when = ", ".join(f"{{{{{low}, {width}}}, {value}}}" for (low, width), value in m.when)
        if when:
            out.append(f"constexpr MessageMatch k_{m.name}_when[] = {{{when}}};")
        fixed = ", ".join(f'{{"{name}", "{word}"}}' for name, word in m.fixed)
        if fixed:
            out.append(f"constexpr MessageFixed k_{m.name}_fixed[] = {{{fixed}}};")
        out += _unpack(members, m)
        codes = eu.functions[m.function]
        code = codes[min(m.gens)]
        messages.append(f'    {{"{m.name}", {code}, {sum(1 << g for g in m.gens):#x}, {f"k_{m.name}_when" if when else "{}"}, k_{m.name}, '
                        f'{f"k_{m.name}_fixed" if fixed else "{}"}, unpack_{m.name}}},')
    types = members.get("type", (0, {}))[1]
    out += ["", "constexpr std::string_view kTypeNames[] = {\"\", " + ", ".join(f'"{w}"' for w in types) + "};"]
    out += ["", "constexpr FunctionName kFunctions[] = {"] + functions + ["};", "", "constexpr MessageLayout kMessages[] = {"] + messages
    out += ["};", "", "}  // namespace", "", "std::span<const FunctionName> function_names() { return kFunctions; }",
            "std::span<const MessageLayout> message_layouts() { return kMessages; }",
            "std::string_view type_name(unsigned type) { return type < kMessageTypes ? kTypeNames[type] : std::string_view(); }", "",
            "}  // namespace halogen::eu", ""]
    return "\n".join(out)
