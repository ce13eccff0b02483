"""`python -m benchmarks [--write] [--quick]`: Kinetostat beside Pinocchio (from Python, and from C++
where a compiler is there) and MuJoCo, taking turns.

--write   put the tables into docs/benchmarks.md      --quick   arms and the chain of 10 only
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "KINETOSTAT_THREADS"):
    os.environ[_variable] = "1"
os.environ["KINETOSTAT_CACHE"] = ""  # compile times are those of a machine never seen before

import platform  # noqa: E402
import sys  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402

from benchmarks.document import put  # noqa: E402
from benchmarks.report import Report  # noqa: E402


def processor() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor() or platform.machine()
    import llvmlite.binding as llvm

    return f"{name} ({llvm.get_host_cpu_name()}, {os.cpu_count()} cores)"


def main() -> None:
    """Measure and print; write when asked."""
    report = Report(quick="--quick" in sys.argv)
    report.measure(lambda line: print(line, file=sys.stderr, flush=True))
    packages = ", ".join(f"{name} {version(name)}" for name in ("pin", "mujoco", "casadi", "llvmlite", "numpy"))
    head = f"Python {platform.python_version()}, {packages}; {processor()}, {platform.system()}; one thread."
    text = report.text(head)
    print(text)
    if "--write" in sys.argv:
        put(text)


if __name__ == "__main__":
    main()
