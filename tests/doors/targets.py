#!/usr/bin/env python3
"""Compares scenes of faces, layers, levels, samples, masks, blits, images and clipped attributes (tests/programs/gl_targets),
drawn by unmodified Mesa under `halogen run`, with llvmpipe's, byte by byte: at most 1 of 255 apart. Reports must name nothing
unsupported.
usage: targets.py [device...]     HALOGEN: another tool
"""
import sys

from scenes import apart, compare

DEVICES = ["g45", "snb", "chv", "icl", "dg1"]
NEAR = {"small_floats": 4}  # llvmpipe cuts bits off floats of 10 and 11 bits, the model rounds
# Number of scenes on chips with fewer GL features.
LESS = {"i965": 16, "gm965": 16, "g45": 16, "gm45": 16, "snb": 31}


DITHERS = ["chv", "icl", "dg1"]  # alpha to coverage: the share of samples in 4x4 pixels is alpha
ALPHA_COLUMNS = {0: 0, 7: 0.25, 13: 0.5, 20: 0.75, 26: 1}  # the first of four columns with one alpha: alpha
SIDE = 32


def dithered(drawn):
    for first, alpha in ALPHA_COLUMNS.items():
        reds = [drawn[(y * SIDE + x) * 4] for y in range(SIDE) for x in range(first, first + 4)]
        mean = sum(reds) / len(reds)
        if abs(mean - 255 * alpha) > 2:
            return f"columns {first} to {first + 3}: {mean / 255:.3f} of the samples are covered, not {alpha}"
    return ""


def rule(device, scene, drawn, wanted):
    """Compares; a chip of GL 2 draws only the first formats of a list."""
    if scene == "alpha_coverage" and device in DITHERS and len(drawn) == len(wanted):
        return dithered(drawn)
    if not drawn or len(drawn) > len(wanted) or len(drawn) % 4:
        return f"{len(drawn)} bytes, not {len(wanted)}"
    far = apart(drawn, wanted, NEAR.get(scene, 1))
    if not far:
        return ""
    at = far[0]
    return f"{len(far)} pixels are wrong, the first at byte {at}: {list(drawn[at:at + 4])}, not {list(wanted[at:at + 4])}"


sys.exit(compare("targets", "gl_targets", DEVICES, rule, LESS))
