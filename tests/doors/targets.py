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


def rule(_, scene, drawn, wanted):
    """Compares; a chip of GL 2 draws only the first formats of a list."""
    if not drawn or len(drawn) > len(wanted) or len(drawn) % 4:
        return f"{len(drawn)} bytes, not {len(wanted)}"
    far = apart(drawn, wanted, NEAR.get(scene, 1))
    if not far:
        return ""
    at = far[0]
    return f"{len(far)} pixels are wrong, the first at byte {at}: {list(drawn[at:at + 4])}, not {list(wanted[at:at + 4])}"


sys.exit(compare("targets", "gl_targets", DEVICES, rule, LESS))
