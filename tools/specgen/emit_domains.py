"""spec/domain_data.cpp: wake and replication tables behind src/spec/domain_tables.h."""

from emit_tables import Pool, mask, quote
from emit_types import NOTE


def domain_data(spec):
    order = list(spec.devices)
    ports, shadow = Pool("WakePort", "kPorts"), Pool("OffsetRange", "kShadow")
    groups, selectors = Pool("ReplicationGroup", "kGroups"), Pool("SteeringSelector", "kSelectors")

    def head(t):
        return f"{quote(t.name)}, {quote(t.doc)}, {quote(t.source)}, {mask(order.index(d) for d in t.devices)}"

    def bits(t, key):
        place = t.fields[key]
        return f"{{{place[0]}, {place[1]}, true}}" if place else "{0, 0, false}"

    wake = []
    for _, t in sorted(spec.wake_tables.items()):
        port_rows = ports.span(f"{{{quote(p['domain'])}, {p['request']:#x}, {p['ack']:#x}, Access::{p['access']}, {p['bits']:#x}}}"
                               for p in t.rows)
        shadow_rows = shadow.span(f"{{{a:#x}, {b:#x}}}" for a, b in t.shadow)
        wake.append(f"{{{head(t)}, {quote(t.ranges)}, {'true' if t.writes_wake else 'false'}, {port_rows}, {shadow_rows}}}")
    replication = []
    for _, t in sorted(spec.replication_tables.items()):
        group_rows = groups.span(f"{{{quote(g['name'])}, {g['instances']}, FuseSense::{g['sense']}, {g['fuse']:#x}, {g['first_bit']}, "
                                 f"{g['bits']}}}" for g in t.groups.values())
        selector_rows = selectors.span(f"{{{quote(s['name'])}, {s['offset']:#x}, SelectorOrigin::{s['origin']}, {quote(s['endpoints'])}}}"
                                       for s in t.rows)
        replication.append(f"{{{head(t)}, {quote(t.ranges)}, {quote(t.slice_ranges)}, {t.slices}, {bits(t, 'multicast')}, "
                           f"{bits(t, 'slice')}, {bits(t, 'subslice')}, {t.selector_reset:#x}, {group_rows}, {selector_rows}}}")
    out = [NOTE + '#include "spec/domain_tables.h"', "", "namespace halogen::spec {", "",
           "using namespace std::string_view_literals;", "", "namespace {", ""]
    for pool in (ports, shadow, groups, selectors):
        out += pool.lines()
    for kind, name, rows in (("WakeTable", "kWakeTables", wake), ("ReplicationTable", "kReplicationTables", replication)):
        if rows:
            out += [f"constexpr {kind} {name}[] = {{"] + [f"    {row}," for row in rows] + ["};"]
    out += ["", "}  // namespace", "",
            f"std::span<const WakeTable> wake_tables() {{ return {'kWakeTables' if wake else '{}'}; }}",
            f"std::span<const ReplicationTable> replication_tables() {{ return {'kReplicationTables' if replication else '{}'}; }}",
            "", "}  // namespace halogen::spec", ""]
    return "\n".join(out)
