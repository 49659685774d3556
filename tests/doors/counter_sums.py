#!/usr/bin/env python3
"""Checks a file of `halogen run --counters`: the sums over all samples against work that is known without the model.
usage: counter_sums.py NAME FILE gl | gl-killed | reduction | tracks"""
import csv
import json
import sys

PIXELS = 256 * 128  # of the target of gl_counted
ITEMS, GROUP = 4096, 256  # of the case "reduction"

# What gl_counted draws.
GL = {"RasterizedPixels": 8 * PIXELS, "EarlyDepthTestFails": PIXELS, "SamplesKilledInPs": PIXELS // 2,
      "SamplesWritten": 6 * PIXELS + PIXELS // 2, "SamplesBlended": 2 * PIXELS, "PixelsFailingPostPsTests": 0,
      "HiDepthTestFails": 0, "SamplerTexels": PIXELS, "VsThreads": 8, "CsThreads": 0, "GsThreads": 0, "HsThreads": 0,
      "DsThreads": 0, "SlmBytesRead": 0, "ShaderAtomics": 0, "ShaderBarriers": 0}


def rows_of(name):
    """Reads the samples, and checks what holds for every file."""
    with open(name, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows, "no sample"
    values = [{key.split(" ")[0]: (text if key == "context" else float(text)) for key, text in row.items()} for row in rows]
    shares = [key.split(" ")[0] for key in rows[0] if key.endswith("(%)")]
    begin = None
    for row in values:
        assert begin is None or row["time"] - row["GpuTime"] == begin, f"a gap at {row['time']}"
        assert row["GpuTime"] >= 0, f"an empty interval at {row['time']}"
        begin = row["time"]
        for share in shares:
            assert 0 <= row[share] <= 100, f"{share} is {row[share]}"
        assert row["EuActive"] + row["EuStall"] <= 100.001, f"EuActive {row['EuActive']} and EuStall {row['EuStall']}"
    return values


def sums_of(values):
    return {key: sum(row[key] for row in values) for key in values[0] if key not in ("time", "context")}


def gl(name):
    sums = sums_of(rows_of(name))
    wrong = [f"{key} is {sums[key]:.0f}, expected {value}" for key, value in GL.items() if sums[key] != value]
    assert not wrong, "; ".join(wrong)
    shaded = 7 * PIXELS  # in threads of 8 to 32 pixels
    assert shaded / 32 <= sums["PsThreads"] <= shaded / 8, f"PsThreads is {sums['PsThreads']:.0f}"
    return f"{sums['RasterizedPixels']:.0f} pixels"


def gl_killed(name):
    """The last period may be missing: it ends after the last draw, which has an eighth of the pixels."""
    sums = sums_of(rows_of(name))
    assert 7 * PIXELS <= sums["RasterizedPixels"] <= 8 * PIXELS, f"RasterizedPixels is {sums['RasterizedPixels']:.0f}"
    return f"{sums['RasterizedPixels']:.0f} pixels"


def reduction(name):
    """Each thread meets a barrier after its first store and after each of the eight steps."""
    sums = sums_of(rows_of(name))
    threads = sums["CsThreads"]
    assert threads in (ITEMS / 8, ITEMS / 16, ITEMS / 32), f"CsThreads is {threads:.0f}"
    assert sums["ShaderBarriers"] == 9 * threads, f"{sums['ShaderBarriers']:.0f} barriers of {threads:.0f} threads"
    stores = 4 * ITEMS  # bytes of the first store alone; each step adds to half as many words
    assert stores <= sums["SlmBytesWritten"], f"SlmBytesWritten is {sums['SlmBytesWritten']:.0f}"
    assert stores <= sums["SlmBytesRead"], f"SlmBytesRead is {sums['SlmBytesRead']:.0f}"
    assert sums["ShaderAtomics"] == 0 and sums["VsThreads"] == 0 and sums["PsThreads"] == 0, "work of another kind"
    # Every group reads 1 KB of input, in lines of 64 bytes, and writes one word.
    lines = ITEMS * 4 // 64
    assert lines <= sums["ShaderMemoryAccesses"], f"ShaderMemoryAccesses is {sums['ShaderMemoryAccesses']:.0f}"
    return f"{threads:.0f} threads of {ITEMS / threads:.0f} items"


def tracks(name):
    with open(name, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    last, most = {}, {}
    for event in events:
        if event["ph"] == "C":
            key, value = event["name"].split(" ")[0], event["args"]["value"]
            assert key not in last or event["ts"] >= last[key][0], f"{key} goes back in time"
            last[key] = (event["ts"], value)
            most[key] = max(most.get(key, 0), value)
    assert set(GL) <= set(last), f"tracks are missing: {set(GL) - set(last)}"
    assert all(value == 0 for _, value in last.values()), "a track does not end at 0"
    silent = [key for key in GL if (most[key] > 0) != (GL[key] > 0)]
    assert not silent, f"tracks with the wrong content: {silent}"
    bars = [event for event in events if event["ph"] == "X"]
    assert bars and all(event["dur"] > 0 for event in bars), "no bars of contexts"
    return f"{len(events)} events"


def main():
    name, file, case = sys.argv[1:]
    try:
        text = {"gl": gl, "gl-killed": gl_killed, "reduction": reduction, "tracks": tracks}[case](file)
    except AssertionError as error:
        sys.exit(f"counters: {name}: {error}")
    print(f"counters: {name}: {text}")


main()
