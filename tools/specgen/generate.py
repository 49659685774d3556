"""Lists and writes the generated files. A file whose content is unchanged keeps its time, so nothing is rebuilt."""

from pathlib import Path

import emit_domains
import emit_eu
import emit_eu_messages
import emit_headers
import emit_ids
import emit_members
import emit_pci
import emit_tables
import emit_types
import emit_world
from loading import topics
from names import Names, included_topics


def outputs(root):
    """Returns the names of all outputs, which depend on the topic files that exist and not on their content."""
    files = [
        "spec/generation_ids.h", "spec/gens_with_device.h", "spec/item_ids.h", "spec/thread_kinds.h", "spec/registry.cpp",
        "spec/device_data.cpp", "spec/interface_data.cpp", "spec/storage_data.cpp",
        "spec/table_data.cpp", "spec/domain_data.cpp", "spec/pci_data.cpp",
        "eu/isa_fields.h", "eu/isa_data.cpp", "eu/op_data.h", "eu/message_fields.h", "eu/message_data.cpp",
        "hw/enums.h", "hw/enums.cpp", "hw/header_bits.h", "hw/struct_sizes.h", "test/members.cpp",
    ]
    for topic in topics(root):
        files += [f"hw/{topic}.h", f"hw/{topic}.cpp"]
    return files


def contents(spec):
    names = Names(spec)
    files = {
        "spec/generation_ids.h": emit_ids.generation_ids(spec),
        "spec/gens_with_device.h": emit_ids.gens_with_device(spec),
        "spec/item_ids.h": emit_ids.item_ids(names),
        "spec/thread_kinds.h": emit_ids.thread_kinds(),
        "spec/registry.cpp": emit_ids.registry(spec, names),
        "spec/device_data.cpp": emit_world.device_data(spec),
        "spec/interface_data.cpp": emit_world.interface_data(spec),
        "spec/storage_data.cpp": emit_world.storage_data(spec, names),
        "spec/table_data.cpp": emit_world.table_data(spec),
        "spec/domain_data.cpp": emit_domains.domain_data(spec),
        "spec/pci_data.cpp": emit_pci.pci_data(spec),
        "eu/isa_fields.h": emit_eu.fields_header(spec),
        "eu/isa_data.cpp": emit_eu.data(spec),
        "eu/op_data.h": emit_eu.op_header(spec),
        "eu/message_fields.h": emit_eu_messages.header(spec),
        "eu/message_data.cpp": emit_eu_messages.data(spec),
        "hw/header_bits.h": emit_headers.header_bits(spec),
        "hw/struct_sizes.h": emit_types.struct_sizes(spec, names),
        "hw/enums.h": emit_types.enums_header(spec),
        "hw/enums.cpp": emit_tables.enums_source(spec),
        "test/members.cpp": emit_members.members_source(spec, names),
    }
    for topic in spec.topics:
        files[f"hw/{topic}.h"] = emit_types.topic_header(spec, names, topic)
        files[f"hw/{topic}.cpp"] = emit_tables.topic_source(spec, names, topic)
    return files


def include_cycle(spec):
    """Returns a list of topics whose headers would include each other, or None."""
    state = {}

    def visit(topic, path):
        if state.get(topic) == "done":
            return None
        if topic in path:
            return path[path.index(topic):] + [topic]
        for t in included_topics(spec, topic):
            found = visit(t, path + [topic])
            if found:
                return found
        state[topic] = "done"
        return None

    for topic in spec.topics:
        found = visit(topic, [])
        if found:
            return found
    return None


def write(files, folder):
    changed = 0
    for name, text in files.items():
        path = Path(folder) / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        changed += 1
    return changed
