#!/usr/bin/env python3
"""Compares scenes of OpenGL's fixed functions (tests/programs/gl_fixed.c), drawn by unmodified Mesa under `halogen run`, with
llvmpipe's.

A pixel is right if no channel differs by more than a few of 255, because interpolation has fewer bits on hardware. Lines,
whose pixels GL does not define, and quads are checked against the manual's rules (drawing_rules.py). Reports must name nothing
unsupported.
usage: fixed.py [device...]     HALOGEN: another tool
"""
import sys

import drawing_rules
from scenes import PROGRAMS, apart, compare

DEVICES = ["i965", "g45", "snb", "icl"]
SIZE = 64
NEAR = 3  # of 255
FIRST = ("i965", "g45")


def either(device, scene, x, y):
    """Returns pixels for which both answers are right, or the right one is not known."""
    if scene == "alpha_test":  # llvmpipe compares bytes; alpha is 0, 0.51 and 1 at the corners
        (x0, y0), (x1, y1), (x2, y2) = [((u + 1) * 32, (v + 1) * 32) for u, v in ((-0.83, -0.71), (0.79, -0.63), (0.07, 0.81))]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        b = ((x + 0.5 - x0) * (y2 - y0) - (x2 - x0) * (y + 0.5 - y0)) / area
        c = ((x1 - x0) * (y + 0.5 - y0) - (x + 0.5 - x0) * (y1 - y0)) / area
        return abs(0.51 * b + c - 0.5) < 1 / 255
    # Not known: whether the first chip's clip threads cut at the far plane when they test the planes themselves.
    far_edge = (0.75 / 10 + 1) * 32
    return device == "i965" and scene in ("floor", "flat_floor", "fog") and y + 0.5 > far_edge


SOURCE = (PROGRAMS / "gl_fixed.c").read_text()
RULED = [drawing_rules.scenes(SOURCE, first) for first in (False, True)]


def rule(device, scene, drawn, wanted):
    wanted = RULED[device in FIRST].get(scene, wanted)
    if len(drawn) != len(wanted):
        return f"{len(drawn)} bytes, not {len(wanted)}"
    places = [(at // 4 % SIZE, at // 4 // SIZE) for at in apart(drawn, wanted, NEAR)]
    wrong = [place for place in places if not either(device, scene, *place)]
    return f"{len(wrong)} pixels are wrong: {wrong[:4]}" if wrong else ""


sys.exit(compare("fixed", "gl_fixed", DEVICES, rule))
