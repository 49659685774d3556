"""Names and member types in the generated C++."""

KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default
delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix
NULL EOF TRUE FALSE INFINITY NAN HUGE""".split())
TAKEN = {"pack", "unpack", "repack"}
STRONG = {"gpu_va": "GpuVa", "ggtt": "GgttOffset", "phys": "PhysAddr"}


def ident(name):
    if name in KEYWORDS or name in TAKEN:
        return name + "_"
    return "_" + name if name[0].isdigit() else name


def pascal(name):
    return ident("".join(part[:1].upper() + part[1:] for part in name.split("_")))


def gen_ident(name):
    return name.replace(".", "_")


def smallest(width, signed=False):
    for size in (8, 16, 32, 64):
        if width <= size:
            return f"{'' if signed else 'u'}int{size}_t"
    return "uint64_t"


def member_class(rows):
    """Returns the type of the common member of these field rows, or None if the rows do not agree."""
    kinds = {f.type for f in rows}
    if kinds <= {"uint", "bool"}:
        if any(f.values for f in rows):
            return "values"
        return "bool" if kinds == {"bool"} else "uint"
    if kinds <= {"offset", "uint"}:
        return None if any(f.values for f in rows) else "offset"
    if kinds <= {"ufixed", "sfixed"}:
        return "fixed"
    if len(kinds) != 1 or len({f.target for f in rows}) != 1:
        return None
    return kinds.pop()


def member_type(rows):
    kind = member_class(rows)
    width = max(f.width for f in rows)
    if kind == "values":
        return pascal(rows[0].name)
    if kind in STRONG:
        return STRONG[kind]
    if kind == "enum":
        return "hw::" + ident(rows[0].target)
    return {"bool": "bool", "uint": smallest(width), "int": smallest(width, True), "float": "float", "fixed": "double",
            "offset": "uint64_t", "reg": "uint32_t"}[kind]
