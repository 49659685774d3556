"""Numbers by which registers and structures identify the engines of a device, besides class and instance."""

NO_ID = 0xff
_KEYS = {"reset", "fault_id", "register_set", "class_id"}


def keys():
    return _KEYS


def resolve(spec, error):
    """Checks the numbers against the items that hold them, and finds each engine's bit of GDRST. Needs the layouts."""
    for device in spec.devices.values():
        resets = _fields(spec.registers.get("GDRST"), device)
        faults = _fields(spec.registers.get("FAULT_REG"), device)
        sets = _fields(spec.registers.get("TRTT_CR"), device)
        classes = _fields(spec.structs.get("CONTEXT_DESCRIPTOR"), device)
        for engine in device.engines:
            here = device.where.at(f"engine {engine['name']}")
            _expect(error, here, engine, "reset", bool(resets), "GDRST")
            _expect(error, here, engine, "fault_id", "engine_id" in faults, "FAULT_REG.engine_id")
            _expect(error, here, engine, "class_id", "engine_class" in classes, "CONTEXT_DESCRIPTOR.engine_class")
            if "register_set" in engine and not sets:
                error(here, "register_set: the device has no registers with a copy for each engine")
            field = resets.get(engine.get("reset"))
            if "reset" in engine and resets and field is None:
                error(here, f"reset: GDRST has no field {engine['reset']!r} on this generation")
            engine["reset_bit"] = field.first if field else NO_ID


def _fields(item, device):
    layout = item.layouts.get(device.gen) if item and device.name in item.devices else None
    return {field.name: field for field in layout.fields} if layout else {}


def _expect(error, here, engine, key, wanted, reason):
    if wanted and key not in engine:
        error(here, f"missing key {key!r}: the device has {reason}")
    if key in engine and not wanted:
        error(here, f"{key}: the device has no {reason}")


def numbers(engine):
    """Returns the numbers as the last members of EngineModel."""
    return ", ".join(str(engine.get(key, NO_ID)) for key in ("reset_bit", "fault_id", "register_set", "class_id"))
