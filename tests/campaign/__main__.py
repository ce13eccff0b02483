"""Spoils files, formulas, drawings and the window at random, and reports all that is not a result or a message.

`python -m tests.campaign PART [--count N] [--seed S] [--minutes M] [--processes P]`; a part is files, formulas,
drawings, sketches (drawn by hand), connections, window, starts (of the window, with work at once), kills, modes
(friction and stops in runs), switches (of formulas in runs) or all. What is done is kept in build/campaign and not
done again with the same seed (--again does it); inputs of failures are kept there, too. `--only INDEX` runs one trial
here and now, for a debugger. Ends with 1 if anything unexpected was found.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from core.machine_code import intermediate, supply
from tests.campaign.runner import Runner
from tests.campaign.trials import luck_of
from tests.campaign.worker import MODULES, PARTS

COUNTS = {
    "files": 100_000,
    "formulas": 100_000,
    "drawings": 10_000,
    "sketches": 2_000,
    "connections": 2_000,
    "window": 200,
    "starts": 200,
    "kills": 50,
    "modes": 2_000,
    "switches": 5_000,
}
"""Trials of a whole campaign; one of the window has 25 actions."""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=(*PARTS, "all"))
    parser.add_argument("--count", type=int, help="trials of a part (default: of a whole campaign)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="time for each part")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also what was done before")
    parser.add_argument("--only", type=int, metavar="INDEX", help="run this trial in this process")
    given = parser.parse_args()
    if given.only is not None:
        print(alone(given.part, given.seed, given.only))
        return 0
    if intermediate.find_unusable_code(intermediate.entry_point_names()):
        supply.compile_in_subprocess()  # trials may write nothing, and so make none
    reports = []
    for part in PARTS if given.part == "all" else (given.part,):
        runner = Runner(part, given.seed, processes=given.processes, minutes=given.minutes, resume=not given.again)
        reports.append(runner.run(given.count or COUNTS[part]))
        print(reports[-1].text(), flush=True)
    return int(any(report.failures for report in reports))


def alone(part: str, seed: int, index: int) -> str:
    """The outcome of one trial, whose exceptions are shown as they are."""
    with tempfile.TemporaryDirectory() as folder:
        trials = importlib.import_module(MODULES[part]).TRIALS(Path(folder))
        case = Path(folder, "case")
        case.mkdir()
        return trials.trial(luck_of(seed, part, index), case)


if __name__ == "__main__":
    sys.exit(main())
