"""hw/header_bits.h: the bits of command headers by client."""

from cppnames import ident, pascal
from emit_types import NOTE


def header_bits(spec):
    out = [NOTE + "#pragma once", "", "#include <cstdint>", "", '#include "spec/header_field.h"', "", "namespace halogen::hw {", ""]
    for name, (doc, rows) in spec.headers.items():
        out += [f"// {' '.join(doc.split())}", f"struct {pascal(name)}Header {{"]
        for field, text, first, width, values in rows:
            if values:
                words = ", ".join(f"{ident(k)} = {v:#x}" for k, v in values.items())
                out.append(f"  enum {pascal(field)} : uint32_t {{ {words} }};")
            out.append(f"  static constexpr spec::HeaderField k{pascal(field)}{{{first}, {width}}};"
                       + (f"  // {' '.join(text.split())}" if text else ""))
        out += ["};", ""]
    return "\n".join(out + ["}  // namespace halogen::hw", ""])
