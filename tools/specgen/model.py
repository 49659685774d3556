"""The description after reading: plain data, with generations as indices into Spec.gens."""

from dataclasses import dataclass, field
from pathlib import Path

ENGINES = ["render", "blit", "video", "vebox", "compute", "posh"]
ACCESS = ["rw", "ro", "wo", "w1c", "masked", "self_clearing", "w_once"]
EFFECTS = ["noop", "drop_write", "drop_post_sync", "per_process_table", "per_process_page", "parent_privilege"]
IN_PLACE = {"gpu_va", "ggtt", "phys", "offset", "reg"}
THREADS = ["vertex_pair", "vertex_simd8", "hull_single", "hull_eight", "domain", "geometry_single", "geometry_simd8", "clip",
           "setup", "pixel", "compute", "media"]
UPDATES = ["change", "valid", "disable"]
BAR_KINDS = ["gttmmadr", "mmadr", "gmadr", "gttadr", "lmem", "io"]


@dataclass
class Field:
    name: str
    first: int
    width: int
    type: str                  # without its parameter: uint int bool float ufixed ... enum struct mbo
    gens: frozenset
    fraction: int = 0          # ufixed, sfixed
    target: str = ""           # enum:, struct:
    values: dict = None        # local names
    doc: str = ""
    access: str = ""
    reset: int = None
    update: tuple = ()         # (kind, names of fields) of a bit that says whether a command sets them

    @property
    def end(self):
        return self.first + self.width


@dataclass
class Reserved:
    first: int
    width: int
    gens: frozenset
    ignored: bool = False

    @property
    def end(self):
        return self.first + self.width


@dataclass(frozen=True)
class Unread:
    """A field that the model does not read, in an item on one generation."""

    name: str                  # with its item: "SAMPLER_STATE.lod_pre_clamp_mode"
    reason: str
    first: int
    width: int
    rest: tuple = (0,)         # values without an effect
    condition: tuple = (0, 0, 0, False)    # condition for an effect: first bit, width and value of another field, and
                                           # whether that field must or must not have the value; width 0: none


@dataclass
class Group:
    name: str
    first: int
    bits: int
    count: int                 # 0: the rest
    gens: frozenset
    fields: list = field(default_factory=list)
    reserved: list = field(default_factory=list)
    unread: list = field(default_factory=list)        # of Unread, on a flattened group


@dataclass(frozen=True)
class Privilege:
    """The effect of a command in a batch without privilege, and its condition."""

    effect: str
    gens: frozenset
    when: str = ""             # a field that is not zero
    register: str = ""         # a field that holds a register which such batches may not use


@dataclass(frozen=True)
class Length:
    fixed: int = 0
    first: int = 0
    width: int = 0
    bias: int = 0
    min: int = 0
    max: int = 0
    open: bool = False         # no max given


@dataclass
class Layout:
    """One item on one generation."""

    fields: list               # without mbo, in order of first bit
    groups: list               # Group with fields and reserved of this generation
    reserved: list             # (first, width, kind) with kind reserved | ignored | mbo
    unread: list = field(default_factory=list)        # of Unread; those of nested structures, too
    inert: dict = field(default_factory=dict)         # name -> reason: fields that need no reading

    def key(self):
        def one(f):
            values = tuple(f.values.items()) if f.values else None
            return (f.name, f.first, f.width, f.type, f.fraction, f.target, values, f.doc, f.access)
        groups = tuple((g.name, g.first, g.bits, g.count, tuple(map(one, g.fields)), tuple(g.reserved), tuple(g.unread))
                       for g in self.groups)
        return (tuple(map(one, self.fields)), groups, tuple(self.reserved), tuple(self.unread))


@dataclass
class Item:
    kind: str
    name: str
    where: object
    topic: str
    doc: str
    source: str
    gens: frozenset
    devices: list              # names, in device order
    fields: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    reserved: list = field(default_factory=list)
    layouts: dict = field(default_factory=dict)       # generation -> Layout; only generations with a device
    # commands
    engines: dict = field(default_factory=dict)       # generation -> list of classes
    match: dict = field(default_factory=dict)         # generation -> (mask, value)
    length: dict = field(default_factory=dict)        # generation -> Length
    privilege: list = field(default_factory=list)
    manual_name: str = ""
    # structures, payloads and message headers
    dwords: dict = field(default_factory=dict)        # generation -> size
    # payloads
    threads: list = field(default_factory=list)
    start: int = 0             # dword of the thread's registers
    # message headers
    functions: list = field(default_factory=list)
    types: list = field(default_factory=list)         # words of the descriptor's field `type`; empty: all
    # registers
    base: str = "absolute"
    classes: list = field(default_factory=list)
    offsets: dict = field(default_factory=dict)       # device -> offset
    width: int = 32
    access: str = "rw"
    resets: dict = field(default_factory=dict)        # device -> value
    count: int = 1
    stride: int = 0
    storage: list = field(default_factory=list)       # where no unit acts on it: (devices, engine classes, indices)
    effects: str = ""
    # registers of configuration space; offsets, width, resets, count as above
    capability: str = ""       # offset is relative to it; empty: the header and Intel's own registers
    relative: dict = field(default_factory=dict)      # device -> offset in the capability
    writable: dict = field(default_factory=dict)      # device -> mask

    def is_storage_everywhere(self):
        return self.storage == [(list(self.devices), [], [])]

    def layout_gens(self):
        return sorted(self.layouts)


@dataclass
class Enum:
    name: str
    where: object
    doc: str
    source: str
    values: list               # (name, value, gens)


@dataclass
class Table:
    """A range table, privilege list or context image."""

    kind: str
    name: str
    where: object
    doc: str
    source: str
    devices: list
    rows: list
    engines: list = field(default_factory=list)
    access: str = ""
    instance: int = -1
    slots: bool = False        # a privilege list that software makes, not hardware
    has_domains: bool = False  # a range table whose rows say which endpoint answers
    null: bool = False         # a range table of offsets that read zero and ignore writes


@dataclass
class CapabilityList:
    """The capabilities of devices in configuration space, in the order of the links."""

    name: str
    where: object
    devices: list
    rows: list                 # (capability, offset)
    ids: dict = field(default_factory=dict)           # capability -> id


@dataclass
class Device:
    name: str
    where: object
    gen: int
    data: dict
    engines: list = field(default_factory=list)       # dicts: name, class, instance, base, domain, engine_ids.py
    features: list = field(default_factory=list)
    quirks: list = field(default_factory=list)


@dataclass
class Exception_:
    check: str
    item: str
    fields: list
    gens: frozenset
    reason: str
    where: object
    used: bool = False


@dataclass
class Mark:
    """A row of spec/unread.toml: fields that nothing in src/ reads. Inert: a guest cannot see an effect of the fields."""

    inert: bool
    items: list                # names or patterns
    fields: list               # names, "group.name", or patterns
    gens: frozenset
    rest: tuple
    when: tuple                # (field, value, whether it must have it), or empty
    reason: str
    where: object


@dataclass
class Spec:
    root: Path
    gens: list = field(default_factory=list)          # names
    gen_docs: list = field(default_factory=list)
    devices: dict = field(default_factory=dict)
    features: dict = field(default_factory=dict)      # name -> doc
    quirks: dict = field(default_factory=dict)
    enums: dict = field(default_factory=dict)
    commands: dict = field(default_factory=dict)
    structs: dict = field(default_factory=dict)
    registers: dict = field(default_factory=dict)
    payloads: dict = field(default_factory=dict)
    message_headers: dict = field(default_factory=dict)
    pci_registers: dict = field(default_factory=dict)
    pci_lists: dict = field(default_factory=dict)     # name -> CapabilityList
    headers: dict = field(default_factory=dict)       # name -> (doc, [(field name, doc, first, width, values)])
    range_tables: dict = field(default_factory=dict)
    unit_tables: dict = field(default_factory=dict)
    privilege_lists: dict = field(default_factory=dict)
    images: dict = field(default_factory=dict)
    wake_tables: dict = field(default_factory=dict)
    replication_tables: dict = field(default_factory=dict)
    exceptions: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    topics: list = field(default_factory=list)

    def device_gens(self):
        return sorted({d.gen for d in self.devices.values()})

    def items(self):
        for group in (self.commands, self.structs, self.registers, self.payloads, self.message_headers, self.pci_registers):
            yield from group.values()

    def excused(self, check, item, fields=(), gen=None):
        """Returns whether an exception covers the error; marks the exception as needed."""
        hit = False
        for e in self.exceptions:
            if e.check == check and e.item == item and set(fields) <= set(e.fields) and (gen is None or gen in e.gens):
                e.used = hit = True
        return hit
