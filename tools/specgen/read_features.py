"""Reads features: yes-or-no properties. Every generation that has a device states each of them."""

_SCOPES = ("generation", "device")


def declare(r, where, name, table):
    """Reads one [feature.*]. `readers` is compared with the code by scripts/lint/features.py."""
    r.keys(where, table, {"doc", "readers", "scope"}, ("doc",))
    r.typed(where, table, "readers", list)
    scope = table.get("scope", "generation")
    if scope not in _SCOPES:
        r.error(where, f"unknown scope {scope!r}")
    r.spec.features[name] = table.get("doc", "")
    if scope == "device":
        r.device_features.add(name)


def decide(r, generations):
    """`generations`: (where, features, without) of each, in order."""
    for where, features, without in generations:
        for name in features + without:
            if name not in r.spec.features:
                r.error(where, f"unknown feature {name!r}")
            elif name in r.device_features:
                r.error(where, f"{name!r} is a feature of devices: name it there")
        for name in sorted(set(features) & set(without)):
            r.error(where, f"{name!r} is under features and under without")
    r.generations = generations


def check_decided(r):
    """Checks that every generation that has a device states all features; call it when the devices are known."""
    with_device = {device.gen for device in r.spec.devices.values()}
    for gen, (where, features, without) in enumerate(r.generations):
        if gen not in with_device:
            continue
        for name in r.spec.features:
            if name not in features + without and name not in r.device_features:
                r.error(where, f"has a device but does not state {name!r}: name it under features or under without")
