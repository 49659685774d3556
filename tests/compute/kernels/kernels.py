#!/usr/bin/env python3
"""Compares many small OpenCL kernels on Intel's driver and the model with PoCL, bit by bit: conversions of every pair of
types, integer functions of every width, float operations that the API defines exactly, halves, flow control, local and
private arrays, doubles on chips that have them.

usage: kernels.py [--part K/N] [device...]    --part: runs every Nth kernel, from the Kth on
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HALOGEN = os.environ.get("HALOGEN", str(HERE.parent.parent.parent / "build/bin/halogen"))
SETTINGS = HERE.parent.parent.parent / "scripts/driver-settings.sh"
DEVICES = ("bdw", "skl", "icl", "tgl", "dg1")
WITH_DOUBLES = ("bdw", "skl")
INTEGERS = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"]
ROUNDINGS = ["", "_rte", "_rtz", "_rtp", "_rtn"]
HEAD = """
kernel void {name}(global ulong* out, global const uint* in) {{
  int i = get_global_id(0);
  uint u = in[2 * i], v = in[2 * i + 1], w = in[(2 * i + 7) & 2047];
  ulong U = ((ulong)v << 32) | u, V = ((ulong)w << 32) | (v * 77u);
  int a = u, b = v, c = w;
  float x = as_float(u), y = as_float(v), z = as_float(w);
  {body}
}}
"""
OF_TWO = ["add_sat(p, q)", "sub_sat(p, q)", "hadd(p, q)", "rhadd(p, q)", "mul_hi(p, q)", "mad_sat(p, q, r)", "rotate(p, q)",
          "clz(p)", "abs_diff(p, q)", "abs(p)", "mad_hi(p, q, r)", "max(p, q)", "min(p, q)", "popcount(p)", "p * q",
          "q ? p / (q == (T)-1 ? (T)3 : q) : 0", "q ? p % (q == (T)-1 ? (T)3 : q) : 0", "p << (q & (sizeof(p) * 8 - 1))",
          "p >> (q & (sizeof(p) * 8 - 1))", "(p < q) | ((p == q) << 1) | ((p >= r) << 2)"]
# Every implementation must return the same bits for these operations.
OF_FLOATS = ["fmin(x, y)", "fmax(x, y)", "x + y", "x - y", "x * y", "fma(x, y, z)", "floor(x)", "ceil(x)", "rint(x)",
             "trunc(x)", "fmod(x, y)", "copysign(x, y)", "ldexp(x, b & 15)", "logb(x)", "fdim(x, y)", "sign(x)", "step(x, y)"]
TESTS = ["isnan(x)", "isinf(x)", "isfinite(x)", "isnormal(x)", "signbit(x) != 0", "isgreater(x, y)", "isless(x, y)",
         "islessgreater(x, y)", "isunordered(x, y)", "x == y", "x != y", "x < y", "x >= y", "!(x < y)", "ilogb(x)"]
OF_DOUBLES = ["X + Y", "X * Y", "X - Y", "fma(X, Y, Z)", "X / Y", "sqrt(X)", "rint(X)", "trunc(X)", "fmin(X, Y)", "fmax(X, Y)",
              "(double)U", "(double)x", "(double)a", "(double)u"]
WHOLE = {
    "loops": "int s = 0; for (int k = 0; k < (a & 31); ++k) { if ((b >> k) & 1) continue; for (int j = 0; j < (c & 7); ++j) {"
             " if (j == (k & 3)) break; s += j * k; } if (s > 100) break; s += k; } out[i] = s;",
    "cases": "int s = 0; switch (a & 7) { case 0: s = 1; case 1: s += b; break; case 2: while (s < (c & 63)) { s += 3;"
             " if (s == 27) goto end; } break; default: s = b ^ c; if (s & 1) { s = 3; break; } s *= 5; } ++s; end: out[i] = s;",
    "shared": "local int L[64]; int l = get_local_id(0); L[l] = a; barrier(1); int s = 0; for (int k = 0; k < 64; ++k) {"
              " s += L[(l + k) & 63] ^ k; if (k == 32) barrier(1); } out[i] = (uint)s;",
    "shared_atomics": "local uint L[4]; int l = get_local_id(0); if (l < 4) L[l] = 0; barrier(1); atomic_add(&L[u & 3], v);"
                      " atomic_max(&L[(u >> 2) & 3], 0u); barrier(1); out[i] = l < 4 ? L[l] : 0;",
    "indexed": "uint P[32]; for (int k = 0; k < 32; ++k) P[k] = u * k + v; uint s = 0; for (int k = 0; k < 32; ++k) {"
               " P[(w >> k) & 31] ^= s; s += P[(u + k) & 31]; } out[i] = s;",
    "indexed_bytes": "uchar P[16]; for (int k = 0; k < 16; ++k) P[k] = (uchar)(u >> k); uint s = 0; for (int k = 0; k < 16; ++k) {"
                     " P[(w >> k) & 15] += (uchar)s; s = s * 3 + P[(u >> k) & 15]; } out[i] = s;",
    "shuffled": "uchar16 q = as_uchar16((uint4)(u, v, w, u ^ w)); uchar16 r = shuffle(q, as_uchar16((uint4)(w, v, u, v)));"
                " out[i] = as_ulong2(r).x ^ as_ulong2(r).y;",
    "from_half": "float q = vload_half(4 * i + (i & 3), (global const half*)in); out[i] = isnan(q) ? 1 : as_uint(q);",
}


def kernels(doubles):
    """Returns name -> body."""
    made = dict(WHOLE)
    for t in INTEGERS:
        for r in ("_sat", "_sat_rte", "_sat_rtp", "_sat_rtn"):
            made[f"float_to_{t}{r}"] = f"out[i] = (ulong)convert_{t}{r}(x);"
        for r in ROUNDINGS:
            made[f"{t}_to_float{r}"] = f"out[i] = as_uint(convert_float{r}(({t})U));"
        for other in INTEGERS:
            made[f"{t}_to_{other}"] = f"out[i] = (ulong)convert_{other}_sat(({t})U);"
        for number, text in enumerate(OF_TWO):
            made[f"{t}_{number}"] = f"{t} p = ({t})U, q = ({t})V, r = ({t})(U >> 7); out[i] = (ulong)({text.replace('T', t)});"
    for number, text in enumerate(OF_FLOATS):
        made[f"float_{number}"] = f"float r = {text}; out[i] = isnan(r) ? 0x7fc00000 : as_uint(r);"
    for number, text in enumerate(TESTS):
        made[f"test_{number}"] = f"out[i] = (uint)({text});"
    for r in ROUNDINGS:
        made[f"to_half{r}"] = f"vstore_half{r}(isnan(x) ? 1.0f : x, 4 * i, (global half*)out);"
    if doubles:
        three = "double X = as_double(U), Y = as_double(V), Z = as_double((ulong)w << 32 | u); "
        for number, text in enumerate(OF_DOUBLES):
            made[f"double_{number}"] = f"{three}double r = {text}; out[i] = isnan(r) ? 1 : as_ulong(r);"
        for t in INTEGERS:
            made[f"double_to_{t}"] = f"{three}out[i] = (ulong)convert_{t}_sat(X);"
        for r in ROUNDINGS:
            made[f"double_to_float{r}"] = f"{three}float r = convert_float{r}(X); out[i] = isnan(r) ? 1 : as_uint(r);"
    return made


def run(work, name, source, driver, prefix):
    """Runs the kernels of a source; `driver` is a device or "pocl" (scripts/driver-settings.sh)."""
    out = work / f"{name}.txt"
    settings = subprocess.run([SETTINGS, "opencl", driver], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    subprocess.run([*prefix, "env", *settings, f"HOME={work}", f"{work}/run_kernels", source, out], check=True, timeout=900)
    return {line.split(" ", 1)[0]: line.split()[1:] for line in out.read_text().splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("devices", nargs="*", default=DEVICES)
    options = parser.parse_args()
    first, step = (int(word) for word in options.part.split("/"))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        subprocess.run(["cc", "-O1", "-o", f"{work}/run_kernels", HERE / "run_kernels.c", "-lOpenCL"], check=True)
        judged = {}
        for device in options.devices:
            doubles = device in WITH_DOUBLES
            chosen = dict(list(kernels(doubles).items())[first::step])
            source = work / f"{'with' if doubles else 'without'}.cl"
            source.write_text("".join(HEAD.format(name=f"k_{name}", body=body) for name, body in chosen.items()))
            if doubles not in judged:
                judged[doubles] = run(work, f"pocl{doubles}", source, "pocl", [])
            found = run(work, device, source, device, [HALOGEN, "run", "--device", device, "--"])
            wrong = []
            for name, wanted in judged[doubles].items():
                apart = [i for i, pair in enumerate(zip(wanted, found.get(name, [""] * len(wanted)))) if pair[0] != pair[1]]
                if apart:
                    i = apart[0]
                    wrong.append(f"{name}: {len(apart)} items; {i}: {found.get(name, ['-'] * 1024)[i]}, not {wanted[i]}")
            print(f"kernels: {device}: {len(found) - len(wrong)} of {len(chosen)} kernels are PoCL's", *wrong, sep="\n    ")
            failed = failed or bool(wrong) or len(found) != len(chosen)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
