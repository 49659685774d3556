#!/usr/bin/env python3
"""Submits recorded streams of GL programs (execbuffers of the data folder) again under `halogen run` and compares the
pictures with llvmpipe's: exact for clears, copies and blits, at most 1 of 255 elsewhere, 3 with filtered textures. No report
may name anything unsupported, and streams with flipped bits must do no harm.

usage: captures.py [--flip N] [device...]    HALOGEN_DATA: the data folder; without it the check does nothing
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tarfile

from reports import unsupported
from scenes import HALOGEN, ROOT, judged, workshop

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("HALOGEN_DATA", ROOT.parent / "shared/data")) / "execbuffers"
LIMITS = {"clear": 0, "copytex": 0, "blit": 0, "tri": 1, "depth": 1, "textri": 3}


MASK = (1 << 48) - 1
AUX_TABLE = 0x4200  # GFX_AUX_TABLE_BASE_ADDR


def last_target(folder):
    """Returns the last render target of the stream: base, pitch in bytes, tiling, width, height, and the fields of its surface
    state (none for a blit) with the auxiliary table of the stream."""
    text = subprocess.run([HALOGEN, "decode", "--json", str(folder)], capture_output=True, text=True).stdout
    target = None
    table = 0
    for line in text.splitlines():
        command = json.loads(line)
        if command.get("kind") != "command":
            continue
        fields = command.get("fields", {})
        if command["name"] == "XY_SRC_COPY_BLT":
            target = (int(fields["destination_base_address"], 16), fields["destination_pitch"] * 4,
                      "X" if fields["dest_tiling_enable"] else "", fields["destination_x2"], fields["destination_y2"], {})
        if command["name"] == "MI_LOAD_REGISTER_IMM":
            pairs = command["dwords"][1:]
            values = dict(zip(pairs[::2], pairs[1::2]))
            if AUX_TABLE in values:
                table = values[AUX_TABLE] | values[AUX_TABLE + 4] << 32
        if not command["name"].startswith("3DSTATE_BINDING_TABLE_POINTERS"):
            continue
        for state in command.get("state", []):
            f = state.get("fields", {})
            if state.get("name") != "RENDER_SURFACE_STATE" or f.get("surface_type") != "SURFTYPE_2D":
                continue
            walk = f.get("tile_mode") or (f.get("tile_walk") if f.get("tiled_surface") else "")
            tiling = {"YMAJOR": "Y", "XMAJOR": "X"}.get(walk, "")
            target = (int(f["surface_base_address"], 16), f["surface_pitch"] + 1, tiling, f["width"] + 1,
                      f["height"] + 1, f | {"table": table})
            break  # the first of a table is what is drawn to
    return target


class Memory:
    """The buffers of a stream after its replay."""

    def __init__(self, program, out):
        objects = json.loads((program / "exec_000/manifest.json").read_text())["objects"]
        self.buffers = [(int(each["gpu"], 16) & MASK, each["size"], out / f"{each['handle']}.bin") for each in objects]

    def read(self, address, size):
        for start, length, file in self.buffers:
            if start <= address & MASK < start + length:
                content = file.read_bytes()
                return content[(address & MASK) - start :][:size]
        raise LookupError(f"no buffer at {address:#x}")

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]


def y_offset(x, y, pitch):
    return y // 32 * 32 * pitch + x // 128 * 4096 + x % 128 // 16 * 512 + y % 32 * 16 + x % 16


def clear_blocks(memory, base, pitch, fields):
    """Returns a function that says whether a pixel is in a clear block: the stream may end without a resolve. Layout of states:
    docs/compression.md."""
    if fields.get("auxiliary_surface_mode") not in ("AUX_CCS_E", "AUX_CCS_D") or not fields.get("clear_value_address_enable"):
        return lambda x, y: False
    if fields["table"]:
        table = fields["table"]
        for shift, bits, low in ((36, 12, 15), (24, 12, 13), (16, 8, 8)):
            entry = memory.word(table + (base >> shift & (1 << bits) - 1) * 8)
            table = (entry & MASK) >> low << low
        states = memory.read(table, 256)  # of 64 KB, more than these pictures have

        def mapped(x, y):
            at = y_offset(x * 4, y, pitch)
            block = at >> 10 & 3 | (at >> 6 & 7) << 2
            return states[at // 4096 * 16 + block // 2] >> block % 2 * 4 & 15 == 15

        return mapped
    states = memory.read(int(fields["auxiliary_surface_base_address"], 16), 4096)

    def control(x, y):
        x, y = x // 8, y // 4
        bit = (y % 16 * 16 + x % 16) * 2
        return states[x // 16 * 512 + y // 16 * 64 + bit // 8] >> bit % 8 & 3 == 3

    return control


def picture(program, out):
    base, pitch, tiling, width, height, fields = last_target(program / "exec_000")
    memory = Memory(program, out)
    content = memory.read(base, 1 << 30)
    is_clear = clear_blocks(memory, base & MASK, pitch, fields)
    colour = b""
    if fields.get("clear_value_address_enable"):
        floats = struct.unpack("<4f", memory.read(int(fields["clear_value_address"], 16), 16))
        colour = bytes(int(min(max(value, 0), 1) * 255 + 0.5) for value in floats)
        if fields["surface_format"].startswith("B8G8R8"):
            colour = colour[2::-1] + colour[3:]
    pixels = bytearray()
    for y in range(height):
        for x in range(0, width * 4, 4):
            at = y * pitch + x
            if tiling == "X":
                at = y // 8 * 8 * pitch + x // 512 * 4096 + y % 8 * 512 + x % 512
            elif tiling == "Y":
                at = y_offset(x, y, pitch)
            pixels += colour if is_clear(x // 4, y) else content[at : at + 4]
    return bytes(pixels)


def replay(device, program, out, *more):
    report = out / "report.json"
    command = [HALOGEN, "run", "--device", device, "--report", str(report), "--", sys.executable,
               str(HERE / "capture_replay.py"), str(program), str(out), *more]
    # Flipped bits may ask for a draw of billions of vertices: the run gets a time limit.
    longest = 15 if more else 600
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as running:
        try:
            out, err = running.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            out, err = running.communicate()
            if more:
                return subprocess.CompletedProcess(command, 0, out, err), report
        done = subprocess.CompletedProcess(command, running.returncode, out, err)
    return done, report


def check_program(device, program, work, reference):
    scene = program.name.removeprefix("gl_").split("_")[0]
    out = work / "out" / device / program.name
    out.mkdir(parents=True)
    done, report = replay(device, program, out)
    if done.returncode != 0:
        return [f"failed: {done.stderr.strip()}"]
    faults = [f"not supported: {name}" for name in unsupported(report)]
    drawn, wanted = picture(program, out), reference[scene]
    if len(drawn) != len(wanted):
        return faults + [f"{len(drawn)} bytes of pixels, not {len(wanted)}"]
    worst = max(abs(a - b) for a, b in zip(drawn, wanted))
    if worst > LIMITS[scene]:
        wrong = sum(drawn[i : i + 4] != wanted[i : i + 4] for i in range(0, len(drawn), 4))
        faults.append(f"{wrong} pixels are not llvmpipe's, by up to {worst}")
    return faults


def flip(device, program, work, count):
    out = work / "flipped"
    out.mkdir(exist_ok=True)
    for seed in range(count):
        done, _ = replay(device, program, out, str(seed))
        if done.returncode not in (0, 1):
            return [f"flipped bits {seed}: status {done.returncode}: {done.stderr.strip()}"]
    return []


def main():
    arguments = sys.argv[1:]
    flips = 0
    if arguments[:1] == ["--flip"]:
        flips, arguments = int(arguments[1]), arguments[2:]
    if not DATA.is_dir():
        print("captures: there are no recorded streams here")
        return 0
    failed = False
    os.environ["HALOGEN_HANG_MS"] = "300"
    with workshop("gl_recorded") as work:
        reference = judged([work / "gl_recorded", "-o"], work / "llvmpipe")
        for archive in sorted(DATA.glob("*.tar.xz")):
            device = archive.name.split(".")[0]
            if arguments and device not in arguments:
                continue
            with tarfile.open(archive) as packed:
                packed.extractall(work / device)
            programs = sorted((work / device).glob("*/gl_*"))
            faults = {}
            for program in programs:
                found = check_program(device, program, work, reference)
                found += flip(device, program, work, flips)
                if found:
                    faults[program.name] = found
            for name, found in faults.items():
                print(f"captures: {device}: {name}: {'; '.join(found)}", file=sys.stderr)
            failed = failed or bool(faults)
            if not faults:
                print(f"captures: {device}: {len(programs)} programs are llvmpipe's")
    return 1 if failed else 0


sys.exit(main())
