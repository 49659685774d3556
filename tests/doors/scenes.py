"""Runs programs of tests/programs that draw scenes into FOLDER/SCENE.rgba: with Mesa's software renderer, which is the judge, and
with unmodified drivers under `halogen run`. A check consists of a program, its devices and a rule (compare)."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

from reports import unsupported

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = ROOT / "tests/programs"
HALOGEN = os.environ.get("HALOGEN", str(ROOT / "build/bin/halogen"))


def driver_settings(interface, name):
    """Returns the environment with which a loader takes a driver (scripts/driver-settings.sh)."""
    words = subprocess.run([ROOT / "scripts/driver-settings.sh", interface, name], stdout=subprocess.PIPE, text=True, check=True)
    return dict(word.split("=", 1) for word in words.stdout.split())


SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "true", "GALLIUM_DRIVER": "llvmpipe", **driver_settings("vulkan", "lavapipe")}


@contextlib.contextmanager
def workshop(*programs):
    """Makes a temporary folder with these programs; they do not see the user's settings, and shader caches are off."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_RUNTIME_DIR=folder, HOME=folder, MESA_SHADER_CACHE_DISABLE="true")
        subprocess.run([PROGRAMS / "build.sh", folder, *programs], check=True)
        yield pathlib.Path(folder)


def draw(command, out, **more):
    """Returns pictures by name, and the program's output if it failed. The last word of the command is the folder `out`."""
    out.mkdir()
    done = subprocess.run([*command, out], env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=900, check=False)
    said = f"the program failed ({done.returncode}): {done.stdout.strip()}" if done.returncode else ""
    return {file.stem: file.read_bytes() for file in out.glob("*.rgba")}, said


def judged(command, out):
    """Returns the judge's pictures; exits without them."""
    pictures, said = draw(command, out, **SOFTWARE)
    if said or not pictures:
        sys.exit(f"{out.name}: the judge failed: {said}")
    return pictures


def on_device(device, command, out):
    """Returns the pictures of a device and faults: the program's failure, and what its report names as unsupported."""
    report = out.with_suffix(".json")
    pictures, said = draw([HALOGEN, "run", "--device", device, "--report", report, "--", *command], out)
    return pictures, [said] if said else [f"unsupported: {name}" for name in unsupported(report)]


def apart(drawn, wanted, limit):
    """Returns byte offsets of pixels in which a channel differs from the judge's by more than the limit."""
    return [at for at in range(0, len(drawn), 4)
            if max(abs(a - b) for a, b in zip(drawn[at : at + 4], wanted[at : at + 4])) > limit]


def compare(title, program, devices, rule, less=None):
    """Compares all scenes of a program on the requested devices, or on all of these. rule(device, scene, drawn, wanted)
    says what is wrong with a scene. less: the number of scenes of devices with fewer. Returns main's status."""
    failed = False
    with workshop(program) as work:
        command = [work / program, "-o"]
        wanted = judged(command, work / "llvmpipe")
        for device in sys.argv[1:] or devices:
            drawn, faults = on_device(device, command, work / device)
            count = (less or {}).get(device, len(wanted))
            if len(drawn) != count:
                faults.append(f"{len(drawn)} scenes, not {count}")
            faults += [f"{scene}: {fault}" for scene, picture in sorted(drawn.items())
                       if (fault := rule(device, scene, picture, wanted[scene]))]
            for fault in faults:
                print(f"{title}: {device}: {fault}", file=sys.stderr)
            failed = failed or bool(faults)
            if not faults:
                print(f"{title}: {device}: all {len(drawn)} scenes are right")
    return 1 if failed else 0
