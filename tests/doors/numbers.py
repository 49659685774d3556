#!/usr/bin/env python3
"""Checks comparisons of depths with equal clear values, levels of detail between two levels, and counts of primitives
(tests/programs/gl_numbers.c), by unmodified Mesa under `halogen run`. Depths are checked against the formula of each driver, levels
by the logarithm, counts by llvmpipe's.
usage: numbers.py [device...]     HALOGEN: another tool
"""
import math
import struct
import sys

from scenes import compare

DEVICES = ["g45", "snb", "chv", "icl"]
LESS = {"g45": 3}  # GL 2: no buffers of floats, no feedback
# crocus clears fast with a value whose bits beyond the buffer's are cut off (on chv up to Mesa 22; later versions round it there);
# iris and draws round.
CUTS = {"snb": (True,), "chv": (True, False)}
NO_16_BITS = ("snb",)  # Mesa gives 24


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def passing(order):
    """Returns which functions pass, from GL_NEVER on: less, equal, lequal, greater, notequal, gequal, always."""
    wanted = 1 << 7
    for bit, holds in ((1, order < 0), (2, order == 0), (3, order <= 0), (4, order > 0), (5, order != 0), (6, order >= 0)):
        wanted |= holds << bit
    return wanted


def order_of(device, bits, value, cuts):
    """Returns whether the drawn depth is less than the cleared one (-1), equal or greater (1)."""
    if bits == 32 or not cuts:
        return 0
    most = (1 << (24 if device in NO_16_BITS else bits)) - 1
    drawn = math.floor(value * most + 0.5)
    cut = int(single(value * single(most)))
    kept = single(single(cut) / single(most))
    cleared = int(single(kept * single(most))) if device == "snb" else math.floor(kept * most + 0.5)
    return (drawn > cleared) - (drawn < cleared)


def rule(device, scene, drawn, wanted):
    if scene.startswith("depth_"):
        bits = int(scene[6:])
        for cuts in CUTS.get(device, (False,)):  # one rule holds for all values
            wrong = [f"{value!r} passes {passed:08b}" for value, passed in struct.iter_unpack("=fI", drawn)
                     if passed != passing(order_of(device, bits, value, cuts))]
            if not wrong:
                break
        return "; ".join(wrong[:3])
    if scene == "levels":  # with eight fraction bits
        wrong = [f"{width!r} is {red}, not {255 * math.log2(width):.1f}" for width, red, *_ in struct.iter_unpack("=f4B", drawn)
                 if abs(red - 255 * math.log2(width)) > 1]
        return "; ".join(wrong[:3])
    found, right = (list(struct.iter_unpack("=II", counts)) for counts in (drawn, wanted))
    if device == "snb" and scene == "counts_geometry":
        # Mesa's threads stream strips as if they were lists: five vertices give one triangle.
        right[5] = right[11] = (right[5][0], right[5][1] // 3)
    return "" if found == right else f"{found}, not {right}"


sys.exit(compare("numbers", "gl_numbers", DEVICES, rule, LESS))
