"""Runs programs of piglit and reads their output."""
import os
import pathlib
import re
import select
import signal
import subprocess
import time

from piglit_lists import LATE, ROOT, SECONDS

SUBTEST = re.compile(r'PIGLIT: \{"subtest": \{"(.*)" : "(\w+)"\}\}')
RESULT = re.compile(r'PIGLIT: \{"result": "(\w+)"')
NO_CONTEXT = "Failed to create any GL context"
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 10  # a test may wait for busy CPUs: limit of elapsed time, as a multiple of its CPU time
BUSY = "busy"  # the test did not get its CPU time


def used(process: int) -> float:
    """Returns the CPU time of a process and its children, in seconds."""
    try:
        ticks = sum(map(int, pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:15]))
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except (OSError, ValueError):
        return 0
    return ticks / TICKS + sum(used(int(child)) for child in children)


class Program:
    """One process: its output lines, each with the CPU time used so far."""

    def __init__(self, command: list[str], seconds: float, environment: dict[str, str]):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        cwd=ROOT, env={**os.environ, **environment}, start_new_session=True)
        self.seconds = seconds
        self.ended = ""
        self.last = 0.0  # seconds used at the last result

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def lines(self):
        """Ends with the program, or when it has used its limit of CPU time since the last result."""
        rest, since = b"", time.monotonic()
        pipe = self.process.stdout.fileno()
        while True:
            ready = select.select([pipe], [], [], 1.0)[0]
            now = used(self.process.pid)
            if not ready:
                late = now - self.last > self.seconds
                if late or time.monotonic() - since > PATIENCE * self.seconds:
                    self.stop()
                    self.ended = LATE if late else BUSY
                    return
                continue
            data = os.read(pipe, 1 << 16)
            if not data:
                break
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                text = line.decode(errors="replace")
                yield text, now - self.last
                if text.startswith("PIGLIT: "):
                    self.last, since = now, time.monotonic()
        self.ended = f"ended({self.process.wait()})"
        self.process.stdout.close()


def run_alone(name: str, command: list[str], seconds: float, environment: dict[str, str]) -> list[str]:
    """Returns the result lines of a test; an empty list if the machine was too busy for it."""
    program = Program(command, seconds, environment)
    seen: dict[str, str] = {}
    whole = None
    took = 0.0
    for line, since in program.lines():
        if line.startswith("PIGLIT: "):
            took += since
        if found := SUBTEST.search(line):
            if seen.get(found[1], "pass") == "pass":
                seen[found[1]] = found[2]
        elif found := RESULT.search(line):
            whole = found[1]
    if program.ended == BUSY:
        return []
    lines = [f"{name}#{subtest} {status}" for subtest, status in seen.items()]
    return [*lines, f"{name}# {whole or program.ended}", f"{name}#{SECONDS} {took:.1f}"]


def run_together(files: list[tuple[str, str]], command: list[str], seconds: float, environment: dict[str, str]):
    """Runs one process of shader_runner for many files (name, path), in order. Returns its reports (name, status, seconds)
    and why it stopped."""
    program = Program([*command, *(path for _, path in files), "-auto", "-fbo", "-report-subtests"], seconds, environment)
    told: list[tuple[str, str, float]] = []
    no_context = False
    for line, since in program.lines():
        no_context |= NO_CONTEXT in line
        if (found := SUBTEST.search(line)) and len(told) < len(files):
            name, path = files[len(told)]
            if found[1].lower() != pathlib.Path(path).stem.lower():
                program.stop()  # the reports do not follow the order of the files
                break
            told.append((name, found[2], since))
    return told, NO_CONTEXT if no_context and not told else program.ended
