#!/usr/bin/env python3
"""Submits the recorded streams of one program through /dev/dri/renderD128, as its driver did, and saves the buffers
afterwards. Run it under `halogen run`.

usage: capture_replay.py PROGRAM_FOLDER OUT_FOLDER [SEED]     SEED: flips some bits of every stream
Buffers are created again. They are bound at the recorded address if the driver chose it, and relocated if i915 did.
"""
import ctypes
import fcntl
import json
import mmap
import os
import pathlib
import random
import struct
import sys

EXEC_PINNED, EXEC_WRITE, EXEC_48 = 16, 4, 8
TILINGS = {"none": 0, "X": 1, "Y": 2}


def request(number, bytes_, out=True):
    return (3 if out else 1) << 30 | bytes_ << 16 | ord("d") << 8 | 0x40 + number


class Card:
    def __init__(self):
        self.file = os.open("/dev/dri/renderD128", os.O_RDWR | os.O_CLOEXEC)

    def call(self, number, data, out=True):
        buffer = bytearray(data)
        fcntl.ioctl(self.file, request(number, len(buffer), out), buffer)
        return bytes(buffer)

    def create(self, size):
        return struct.unpack("<QII", self.call(0x1B, struct.pack("<QII", size, 0, 0)))[1]

    def set_tiling(self, handle, tiling, stride):
        self.call(0x21, struct.pack("<IIII", handle, tiling, stride, 0))

    def map(self, handle, size):
        for kind in (2, 4):  # cached; what local memory has
            try:
                answer = self.call(0x24, struct.pack("<IIQQQ", handle, 0, 0, kind, 0))
            except OSError:
                continue
            return mmap.mmap(self.file, size, offset=struct.unpack("<IIQQQ", answer)[2])
        raise OSError("no mapping")

    def wait(self, handle):
        self.call(0x2C, struct.pack("<IIq", handle, 0, -1))


class Buffer:
    def __init__(self, card, entry):
        self.size = entry["size"]
        self.handle = card.create(self.size)
        self.view = card.map(self.handle, self.size)
        self.known = b""
        if entry["tiling"] != "none":
            try:
                card.set_tiling(self.handle, TILINGS[entry["tiling"]], entry["stride"])
            except OSError:
                pass  # chips without fences

    def put(self, content):
        """Writes what the program wrote since the last stream; dwords that the device wrote stay."""
        old = self.known.ljust(len(content), b"\0")
        for at in range(0, len(content), 64):
            if content[at : at + 64] != old[at : at + 64]:
                self.view[at : min(at + 64, len(content))] = content[at : at + 64]
        self.known = content


def submit(card, folder, buffers, dice):
    manifest = json.loads((folder / "manifest.json").read_text())
    relocates = bool(manifest["relocs"])
    batch = manifest["batch_handle"]
    entries = sorted(manifest["objects"], key=lambda e: e["handle"] == batch)  # the batch is the last
    places = {entry["handle"]: int(entry["gpu"], 16) for entry in entries}
    for entry in entries:
        old = buffers.get(entry["handle"])
        if old is None or old.size != entry["size"]:
            buffers[entry["handle"]] = Buffer(card, entry)
        content = bytearray((folder / entry["file"]).read_bytes())
        if dice and content and (entry["handle"] == batch or dice.random() < 0.3):
            for _ in range(dice.randint(1, 8)):
                bit = dice.randrange(len(content) * 8)
                content[bit // 8] ^= 1 << bit % 8
        buffers[entry["handle"]].put(bytes(content))
    objects, kept = b"", []
    for entry in entries:
        flags = int(entry["exec_flags"], 16) & (EXEC_WRITE | EXEC_48 | (0 if relocates else EXEC_PINNED))
        relocs = b""
        for reloc in manifest["relocs"]:
            if reloc["bo"] == entry["handle"]:
                relocs += struct.pack("<IIQQII", buffers[reloc["target"]].handle, reloc["delta"] & 0xFFFFFFFF,
                                      reloc["offset"], places[reloc["target"]], reloc["rd"], reloc["wd"])
        kept.append(ctypes.create_string_buffer(relocs, len(relocs) or 1))
        place = places[entry["handle"]]
        objects += struct.pack("<IIQQQQQQ", buffers[entry["handle"]].handle, len(relocs) // 32,
                               ctypes.addressof(kept[-1]) if relocs else 0, 0, place, flags, 0, 0)
    kept.append(ctypes.create_string_buffer(objects, len(objects)))
    length = (manifest["batch_len"] + 7) // 8 * 8
    engine = int(manifest["flags"], 16) & 0x3F
    card.call(0x29, struct.pack("<QIIIIIIQQQQ", ctypes.addressof(kept[-1]), len(entries),
                                manifest["batch_start_offset"], length, 0, 0, 0, 0, engine, 0, 0), False)
    card.wait(buffers[batch].handle)


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    dice = random.Random(int(sys.argv[3])) if len(sys.argv) > 3 else None
    card, buffers = Card(), {}
    for folder in sorted(root.glob("exec_*")):
        try:
            submit(card, folder, buffers, dice)
        except OSError as error:
            if not dice:
                raise
            print(f"{folder}: {error}")
            break  # broken streams may hang, and the context is banned then
    for handle, buffer in buffers.items():
        (out / f"{handle}.bin").write_bytes(buffer.view[:])


main()
