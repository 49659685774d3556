"""Programs of tests/programs that draw scenes and leave FOLDER/SCENE.rgba: drawn by Mesa's software, which is the judge,
and by unmodified drivers on `halogen run`. A check is a program, its devices and a rule (compare)."""
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
SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "true", "GALLIUM_DRIVER": "llvmpipe",
            "VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}


@contextlib.contextmanager
def workshop(*programs):
    """A folder for the time of a check, with these programs; they find nothing of the user's, and keep no shaders."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(XDG_RUNTIME_DIR=folder, HOME=folder, MESA_SHADER_CACHE_DISABLE="true")
        subprocess.run([PROGRAMS / "build.sh", folder, *programs], check=True)
        yield pathlib.Path(folder)


def draw(command, out, **more):
    """Pictures by name; then what the program said, if it failed. The last word of the command is the folder `out`."""
    out.mkdir()
    done = subprocess.run([*command, out], env={**os.environ, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=900, check=False)
    said = f"the program failed ({done.returncode}): {done.stdout.strip()}" if done.returncode else ""
    return {file.stem: file.read_bytes() for file in out.glob("*.rgba")}, said


def judged(command, out):
    """The judge's pictures: without them there is nothing to compare."""
    pictures, said = draw(command, out, **SOFTWARE)
    if said or not pictures:
        sys.exit(f"{out.name}: the judge failed: {said}")
    return pictures


def on_device(device, command, out):
    """The pictures of a device, and faults: the program's failure, what its report calls unsupported."""
    report = out.with_suffix(".json")
    pictures, said = draw([HALOGEN, "run", "--device", device, "--report", report, "--", *command], out)
    return pictures, [said] if said else [f"unsupported: {name}" for name in unsupported(report)]


def apart(drawn, wanted, limit):
    """Places of pixels, in bytes, of which a channel is further from the judge's than the limit."""
    return [at for at in range(0, len(drawn), 4)
            if max(abs(a - b) for a, b in zip(drawn[at : at + 4], wanted[at : at + 4])) > limit]


def compare(title, program, devices, rule, less=None):
    """All scenes of a program on the devices that are asked for, or on all of these. The rule says what is wrong with
    one: rule(device, scene, drawn, wanted). less: how many scenes a device has, where it has fewer. Gives main's status."""
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
