#!/usr/bin/env python3
"""Scenes of faces, layers, levels, samples, masks, blits, images and clipped attributes (tests/programs/gl_targets) by
unmodified Mesa on `halogen run`, byte by byte beside llvmpipe's: at most 1 of 255 apart. Reports name nothing unsupported.
usage: targets.py [device...]     HALOGEN: another binary
"""
import sys

from scenes import apart, compare

DEVICES = ["g45", "snb", "chv", "icl", "dg1"]
NEAR = {"small_floats": 4}  # llvmpipe cuts bits off floats of 10 and 11 bits, the model rounds
# Scenes of chips with less of GL: that many.
LESS = {"i965": 16, "gm965": 16, "g45": 16, "gm45": 16, "snb": 31}


def rule(_, scene, drawn, wanted):
    """A chip of GL 2 draws the first formats of a list only."""
    if not drawn or len(drawn) > len(wanted) or len(drawn) % 4:
        return f"{len(drawn)} bytes, not {len(wanted)}"
    far = apart(drawn, wanted, NEAR.get(scene, 1))
    if not far:
        return ""
    at = far[0]
    return f"{len(far)} pixels are wrong, the first at byte {at}: {list(drawn[at:at + 4])}, not {list(wanted[at:at + 4])}"


sys.exit(compare("targets", "gl_targets", DEVICES, rule, LESS))
