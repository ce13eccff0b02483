"""The program ends while other threads compile: it waits for what LLVM is doing, and nothing begins any more."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import atexit, itertools, threading, time

inside, begun = [], threading.Event()
atexit.register(lambda: print("in LLVM at the end:", len(inside)))  # runs after those registered below

from core.codegen import object_code


def optimise(module, target):
    inside.append(1)
    begun.set()
    time.sleep(0.3)
    inside.pop()


object_code._optimise = optimise


def compile_for_ever(name):
    for k in itertools.count():
        object_code.object_code(f"define i64 @f{name}_{k}() {{ ret i64 {k} }}")


for name in "ab":
    threading.Thread(target=compile_for_ever, args=name, daemon=True).start()
assert begun.wait(30.0)
"""


QUEUED = """
import threading
from core.codegen import background, object_code

begun = threading.Event()


def compile_one(k):
    object_code.LoadedLibrary(f"define i64 @f{k}() {{ ret i64 {k} }}")
    begun.set()


for k in range(200):
    background.submit_job(lambda k=k: compile_one(k))
background.resume_compilation()
assert begun.wait(30.0)
"""


def run(script):
    surroundings = {**os.environ, "KINETOSTAT_CACHE": "", "KINETOSTAT_PLAIN_CODE": ""}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=60
    )


def test_jobs_that_wait_at_the_end_do_not_hold_it_up():
    ended = run(QUEUED)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_end_waits_for_the_compilation_of_another_thread():
    ended = run(SCRIPT)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "in LLVM at the end: 0\n"
