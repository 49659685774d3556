#!/usr/bin/env python3
"""Writes seed corpora for the fuzz targets.

usage: seeds.py OUT [--data FOLDER] [--trace FILE.aub]...

Seeds come from recorded streams, which are read in place and never copied into the tree: execbuffer captures, AUB files,
encodings and register accesses of --data (HALOGEN_DATA by default), and runs that `halogen run --trace` recorded. Targets
whose inputs are choices get inputs of every device and several lengths, because libFuzzer starts with short ones.
"""

import argparse
import json
import lzma
import os
import pathlib
import random
import struct
import sys
import tarfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_STREAM = 3000  # bytes of a batch in a seed
FILL = 63  # dwords that one operation of the engine target writes


class Seeds:
    def __init__(self, out):
        self.out = out
        self.counts = {}

    def add(self, targets, name, data):
        for target in targets:
            folder = self.out / f"fuzz_{target}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            self.counts[target] = self.counts.get(target, 0) + 1


def devices():
    return list(tomllib.loads((ROOT / "spec/devices.toml").read_text(encoding="utf-8"))["device"])


def generations():
    rows = tomllib.loads((ROOT / "spec/generations.toml").read_text(encoding="utf-8"))["generation"]
    return [str(row.get("name", row.get("id"))) for row in rows]


def fills(address, data):
    """Operations of the engine target that write `data` to memory."""
    out = bytearray()
    data += bytes(-len(data) % 4)
    for at in range(0, len(data), FILL * 4):
        piece = data[at:at + FILL * 4]
        out += bytes([0]) + struct.pack("<I", address + at) + bytes([len(piece) // 4]) + piece
    return bytes(out)


def engine_operations(batch):
    """A batch at the start of memory, a ring of an engine that runs it, and time."""
    ring = bytes([5, 0, 0, 0]) + struct.pack("<H", min(len(batch) & ~7, 0xfff8)) + bytes([3])
    return fills(0, batch) + ring + bytes([9]) + struct.pack("<H", 0x4000)


def captures(seeds, data):
    names = devices()
    for archive in sorted((data / "execbuffers").glob("*.tar.xz")):
        device = archive.name.split(".")[0]
        if device not in names:
            continue
        chip = names.index(device)
        with tarfile.open(archive) as tar:
            files = {member.name: member for member in tar.getmembers() if member.isfile()}
            for path in sorted(name for name in files if name.endswith("/manifest.json")):
                text = tar.extractfile(files[path]).read()
                manifest = json.loads(text)
                name = path.removesuffix("/manifest.json").replace("/", "_")
                seeds.add(["manifest"], name, text[:4096])
                held = [o for o in manifest["objects"] if o["handle"] == manifest["batch_handle"]]
                member = files.get(path.removesuffix("manifest.json") + held[0]["file"]) if held and held[0]["file"] else None
                if member is None:
                    continue
                start = manifest["batch_start_offset"]
                batch = tar.extractfile(member).read()[start:start + (manifest["batch_len"] or MAX_STREAM)][:MAX_STREAM]
                engine = 3 if manifest["engine"] == "BLT" else 0
                seeds.add(["walker"], name, bytes([chip, engine]) + batch)
                seeds.add(["engine"], name, bytes([chip]) + engine_operations(batch))


def traces(seeds, files):
    for file in files:
        content = lzma.open(file).read() if file.suffix == ".xz" else file.read_bytes()
        for size in (4 << 10, 60 << 10):  # the start of a trace: version, tables, first records
            seeds.add(["aub", "aub_copy", "aub_play"], f"{file.name.split('.')[0]}_{size}", content[:size])


def encodings(seeds, data):
    gens = generations()
    for archive in sorted((data / "eu-encodings").glob("*.tar.xz")):
        gen = archive.name.split(".")[0]
        if gen not in gens:
            continue
        number = gens.index(gen)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                if not member.isfile():
                    continue
                name = member.name.replace("/", "_")
                text = tar.extractfile(member).read()
                if member.name.endswith(".asm"):
                    seeds.add(["isa"], name, bytes([number, 1]) + text[:2000])
                elif member.name.endswith(".expected"):
                    code = bytes.fromhex("".join(text.decode().split()))
                    seeds.add(["isa"], name, bytes([number, 0]) + code[:2000])
                    seeds.add(["eu"], name, bytes([number, 0, 0, 0]) + b"\xff\xff\xff\xff" + code[:2000])


def accesses(seeds, data):
    """The first accesses of Linux's i915 as operations of the device target."""
    names = devices()
    for file in sorted((data / "i915-access").glob("*.txt.xz")):
        device = file.name.split(".")[0]
        if device not in names:
            continue
        operations = bytearray()
        for line in lzma.open(file, "rt"):
            words = line.split()
            if len(words) < 4 or words[1] not in ("CR", "CW", "BR", "BW", "R", "W") or len(operations) >= 14 * 600:
                continue
            try:
                place, size = words[2].split(".")
                bar, place = place.split(":") if ":" in place else ("0", place)
                size = int(size)
                value = int(words[3], 16)
                offset = int(place, 16)
            except ValueError:
                continue
            kind = {"CW": 5, "CR": 6}.get(words[1], 0 if words[1].endswith("W") else 3)
            log2 = {1: 0, 2: 1, 4: 2, 8: 3}.get(size, 2)
            operations += struct.pack("<BBIQ", kind | log2 << 4, int(bar) % 7, offset & 0xffffffff, value & (1 << 64) - 1)
        for length in (40, 200, 600):
            seeds.add(["device"], f"{device}_{length}", bytes([names.index(device)]) + bytes(operations[:14 * length]))


def shared_memory(seeds):
    """The IOMMU as software sets it up, with queues whose entries are memory of the target."""
    write, read, reset, advance, keep, restore = 0, 3, 9, 10, 11, 12
    steps = [(write, 3, 0x20, 0x1_0800), (write, 2, 0x18, 1 << 30), (write, 2, 0x18, 1 << 31), (write, 3, 0x90, 0x2_0000),
             (write, 3, 0xd0, 0x2_1000), (write, 2, 0x18, 1 << 31 | 1 << 26), (write, 3, 0x88, 0x30), (write, 2, 0x38, 0),
             (write, 2, 0x40, 0xfee0_0000), (write, 3, 0x88, 0x1000), (write, 2, 0x34, 0xff), (keep, 0, 0, 0),
             (write, 3, 0x28, 5 << 61), (write, 3, 0x108, 9 << 60), (read, 3, 0x80, 0), (read, 3, 0x208, 0),
             (advance, 0, 0, 100_000), (restore, 0, 0, 0), (reset, 0, 0, 1), (read, 2, 0x1c, 0)]
    operations = b"".join(struct.pack("<BBIQ", kind | log2 << 4, 0xf0, offset, value) for kind, log2, offset, value in steps)
    for chip, name in enumerate(devices()):
        seeds.add(["device"], f"iommu_{name}", bytes([chip]) + operations)


def choices(seeds):
    """Inputs of targets whose bytes are choices, for every device and several lengths. The numbers are fixed."""
    rows = {"draw": ([], 400), "draw_threads": ([1], 400), "dispatch": ([1], 300), "debugger": ([], 300), "fast": ([], 200),
            "message": ([], 300), "engine": ([], 500), "raster": ([], 300), "blit": ([], 200), "display": ([], 300)}
    source = random.Random(18)
    for target, (first, most) in rows.items():
        for chip in range(len(devices())):
            for length in (2, most // 8, most // 2, most):
                seeds.add([target], f"choice_{chip}_{length}", bytes(first + [chip]) + source.randbytes(length))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("HALOGEN_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--trace", type=pathlib.Path, action="append", default=[])
    args = parser.parse_args()
    seeds = Seeds(args.out)
    choices(seeds)
    shared_memory(seeds)
    args.data = pathlib.Path(args.data)
    if args.data.is_dir():
        captures(seeds, args.data)
        encodings(seeds, args.data)
        accesses(seeds, args.data)
    else:
        print(f"seeds: {args.data} does not exist; set HALOGEN_DATA to use recorded streams", file=sys.stderr)
    traces(seeds, sorted((args.data / "aub").glob("*.xz")) + args.trace)
    print("seeds: " + ", ".join(f"{target} {count}" for target, count in sorted(seeds.counts.items())))


if __name__ == "__main__":
    main()
