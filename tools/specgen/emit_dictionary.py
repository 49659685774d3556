"""Dictionaries for fuzzers in libFuzzer's format: what inputs must contain to be more than noise."""


def _dword(value):
    return '"' + "".join(f"\\x{byte:02x}" for byte in value.to_bytes(4, "little")) + '"'


def commands(spec):
    """Headers of commands with their shortest length, each once."""
    headers = {}
    for item in spec.commands.values():
        for gen, (_, value) in item.match.items():
            rule = item.length[gen]
            length = 0 if rule.fixed else max(rule.min - rule.bias, 0) << rule.first
            headers.setdefault((value | length) & 0xffffffff, item.name)
    return [f"# {name}\n{_dword(header)}" for header, name in sorted(headers.items())]


def registers(spec):
    """Offsets of registers; those of engines are relative to the engine's base."""
    offsets = {}
    for item in spec.registers.values():
        for offset in item.offsets.values():
            offsets.setdefault(offset & 0xffffffff, item.name)
    return [f"# {name}\n{_dword(offset)}" for offset, name in sorted(offsets.items())]


def assembly(spec):
    """Words of the assembly language."""
    words = set(spec.eu.ops) | {f"send.{name}" for name in spec.eu.functions}
    words |= {" (8|M0) ", " (16|M8) ", "<8;8,1>:f", "<0;1,0>:ud", "<1>:f", " null", " {EOT}", "(W) ", "(~f0.1)", "r[a0.0,-32]"}
    return ['"' + word + '"' for word in sorted(words)]


def files(spec):
    all_commands, all_registers = commands(spec), registers(spec)
    lists = {"commands": all_commands, "streams": all_commands + all_registers, "registers": all_registers,
             "assembly": assembly(spec)}
    return {f"{name}.dict": "\n".join(lines) + "\n" for name, lines in lists.items()}
