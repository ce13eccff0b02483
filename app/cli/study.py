"""kinetostat study FILE --sample 'm=normal(2, 0.05)' --record 'worst=max(elbow.tau)' -o study.h5: run many variants of
a machine, and report the results."""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from app.cli.machine import FILE, READING, QuantityType, build_context, read, reading_options, split_pairs
from app.cli.run import STOPPED, Interruption, announce, parse_joint_forces
from app.cli.terminal import say, say_progress
from core.simulation.methods import METHODS
from core.studies.declaration import HOW, KINDS

if TYPE_CHECKING:
    from core.studies.study import Study
    from core.studies.study_result import StudyResult, Summary
    from core.studies.study_work import Progress


QUANTILES = {0.05: "5 %", 0.5: "median", 0.95: "95 %"}
MOST_FAILURES = 5
"""Largest number of failed rows listed."""
SUMMARY_HEADS = ("mean", "±", "deviation", "least", *QUANTILES.values(), "largest")
SUMMARY_WIDTHS = (13, 10, 11, 13, 13, 13, 13, 13)


def summary_text(result: StudyResult, file: str | None) -> str:
    """Return a line for each recorded number with its statistics over the successful rows, then the failed rows."""
    failed = result.failed
    rate, low, high = (100.0 * part for part in result.failure_rate)
    interval = f" ({rate:.3g} %, 95 % interval {low:.3g} to {high:.3g} %)" if failed else ""
    lines = [f"{len(result)} rows, {len(failed)} failed{interval}"]
    if len(failed) < len(result) and result.recorded:
        lines.append(
            " ".join(
                [" " * 20, *(f"{head:>{width}}" for head, width in zip(SUMMARY_HEADS, SUMMARY_WIDTHS, strict=True))]
            )
        )
        lines += [_summary_line(name, result.unit(name), result.summary(name)) for name in result.recorded]
    lines += [f"Row {each.row}: {each.status}. {each.message}" for each in failed[:MOST_FAILURES]]
    if len(failed) > MOST_FAILURES:
        lines.append(f"… and {len(failed) - MOST_FAILURES} more.")
    return "\n".join([*lines, f"Wrote {file}"] if file else lines)


def _summary_line(name: str, unit: str, summary: Summary) -> str:
    quantiles = (summary.quantiles[q] for q in QUANTILES)
    numbers = (summary.mean, summary.error, summary.deviation, summary.least, *quantiles, summary.most)
    texts = (
        f"{x:{width}.6g}" if width > 11 else f"{x:{width}.3g}" for x, width in zip(numbers, SUMMARY_WIDTHS, strict=True)
    )
    return " ".join([f"{name:>20}", *texts, *([f" {unit}"] if unit else [])])


def summary_json(result: StudyResult, file: str | None) -> str:
    """Return the summary of a study as JSON, in SI units."""
    failed = result.failed
    names = result.recorded if len(failed) < len(result) else ()
    recorded = {}
    for name in names:
        each = result.summary(name)
        quantiles = {str(q): value for q, value in each.quantiles.items()}
        recorded[name] = {"unit": result.unit(name), **each._asdict(), "quantiles": quantiles}
    report = {
        "rows": len(result.rows.done),
        "done": len(result),
        "failed": dict(Counter(each.status for each in failed)),
        "recorded": recorded,
        "file": file,
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


OF_RUNS = ("duration", "method", "step", "rtol", "atol", "output")
"""Options that only apply to runs."""


@click.command("study")
@FILE
@click.option("--study", "name", metavar="NAME", help="A study saved in FILE; the options are added to it.")
@click.option("--grid", "grids", multiple=True, metavar="NAME=VALUES", help="0.3:0.5:21 (from:to:count), or 0,5,10.")
@click.option(
    "--sample",
    "samples",
    multiple=True,
    metavar="NAME=DISTRIBUTION",
    help="normal(mean, deviation), lognormal(median, deviation), uniform(low, high), triangular(low, peak, high).",
)
@click.option("--list", "lists", multiple=True, type=click.Path(), help="CSV file whose named columns vary together.")
@click.option(
    "--record", "records", multiple=True, metavar="NAME=FORMULA", help="max(abs(joint.tau)), at(frame.position, end) …"
)
@click.option(
    "--curve", "curves", multiple=True, metavar="NAME=CHANNEL@STEP", help="Record a channel at this interval, in s."
)
@click.option("--kind", type=click.Choice(KINDS), help="Kind of a row (default: runs).")
@click.option("--frame", help="For targets: the frame that inverse kinematics moves to x, y, z.")
@click.option("-n", "--count", type=click.IntRange(1), help="Number of samples (default 1000).")
@click.option(
    "--seed", type=int, help="Random seed (default 1); the same seed gives the same samples on every computer."
)
@click.option("--how", type=click.Choice(HOW), help="Sampling method (default: random).")
@click.option("--duration", type=QuantityType("time"), help="Simulated time, in s (default 10).")
@click.option("--method", type=click.Choice(tuple(METHODS)), help="Integrator.")
@click.option("--step", type=QuantityType("time"), help="Step size, or largest step of variable-step methods, in s.")
@click.option("--rtol", type=QuantityType("none"), help="Relative tolerance per step.")
@click.option("--atol", type=QuantityType("none"), help="Absolute tolerance per step, SI.")
@click.option("--every", "output", type=QuantityType("time"), help="Time between samples of a run, in s.")
@click.option(
    "--torque",
    "torques",
    multiple=True,
    metavar="JOINT=FORMULA",
    help="Joint force, in the form of the command run (repeat).",
)
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="Parameter value for all rows (repeat).")
@click.option("--limit", type=QuantityType("time"), help="Computing time allowed per row, in s (default 60).")
@click.option(
    "--cores",
    default="1",
    metavar="N|all",
    show_default=True,
    help="Number of processor cores to use on this computer.",
)
@click.option("--cluster", metavar="ADDRESS", help="Address of a Dask scheduler, such as tcp://host:8786.")
@click.option(
    "-o",
    "--file",
    "file",
    type=click.Path(dir_okay=False),
    help="Write all rows: .h5 (as they finish), .csv, .parquet.",
)
@click.option("--resume", is_flag=True, help="Continue the .h5 file: finished rows are not computed again.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON, SI units.")
@reading_options
def command(model_file: str, sets: tuple[str, ...], cores: str, cluster: str | None, **given: Any) -> int:
    """Simulate or assemble a machine many times with varying numbers, and record values for each row.

    What varies: parameters, start values (joint.q, joint.v), duration, step. Rows that fail are rows with their reason.
    An .h5 file has every finished chunk at once; Ctrl+C finishes what is in hand, and --resume goes on. Exit code 0
    also where rows failed, 1 where all did.
    """
    reading = {name: given.pop(name) for name in READING}
    file, resume, as_json = given.pop("file"), given.pop("resume"), given.pop("as_json")
    machine = build_context(read(model_file, **reading).model, sets)
    study = _study_from_options(machine.mech, **given)
    _check_file(file, resume)
    interruption = Interruption()
    keeps = file if file and _file_suffix(file) == "h5" else None
    work = {"cores": _core_count(cores), "cluster": cluster, "enough": interruption.should_stop, "resume": resume}
    with interruption:
        announce(f"{study.size} row{'s' * (study.size != 1)} of '{machine.mech.name}'")
        found = study.run(keeps, progress=_ProgressLine(sys.stderr.isatty(), interruption), **work)
    if file and not keeps:
        (found.to_csv if _file_suffix(file) == "csv" else found.to_parquet)(file)
    say(summary_json(found, file) if as_json else summary_text(found, file))
    if len(found) < study.size:
        if keeps:
            say(
                f"{len(found)} of {study.size} rows are in {keeps}. Repeat the command with --resume to continue.",
                err=True,
            )
        return STOPPED
    return 1 if len(found.failed) == study.size else 0


def _study_from_options(
    mech: Any,
    name: str | None,
    grids: tuple[str, ...],
    samples: tuple[str, ...],
    lists: tuple[str, ...],
    records: tuple[str, ...],
    curves: tuple[str, ...],
    torques: tuple[str, ...],
    **options: Any,
) -> Study:
    """Build the study from the options; what is missing is taken from the study in the document. Raises
    click.UsageError, or KinetostatError naming the option."""
    from core.studies.study import Study
    from core.studies.study_text import StudyText, study_text_from_document

    asked = study_text_from_document(mech.model, name) if name else StudyText()
    varied, record = split_pairs((*grids, *samples), "--grid, --sample"), split_pairs(records, "--record")
    for each, text in split_pairs(curves, "--curve").items():
        channel, _, every = text.rpartition("@")
        if not channel:
            raise click.UsageError(f"--curve {each}: '{text}' is not of the form CHANNEL@STEP.")
        record[each] = f"{channel} every {every}"
    chosen: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    runs = {key: chosen.pop(key) for key in OF_RUNS if key in chosen}
    if torques:
        runs["torque"] = parse_joint_forces(torques)
    whole = replace(
        asked,
        varied={**asked.varied, **varied},
        record={**asked.record, **record},
        options={**asked.options, **runs},
        lists=lists,
        **chosen,
    )
    return Study.of_text(mech, whole)


def _core_count(text: str) -> Any:
    if text == "all":
        return text
    if not text.isdigit() or int(text) < 1:
        raise click.UsageError(f"--cores: '{text}' is neither a number of cores nor all.")
    return int(text)


def _file_suffix(file: str) -> str:
    suffix = file.lower().rpartition(".")[2]
    return "h5" if suffix == "hdf5" else suffix


def _check_file(file: str | None, resume: bool) -> None:
    """Check, before a long study, that the file's format can be written."""
    if file and _file_suffix(file) not in ("h5", "csv", "parquet"):
        raise click.UsageError(f"-o: '{file}' is neither .h5 nor .csv nor .parquet.")
    if resume and not (file and _file_suffix(file) == "h5"):
        raise click.UsageError("--resume continues an .h5 file: name it with -o.")
    if file and _file_suffix(file) == "parquet":
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise click.UsageError("-o: Parquet files need the package 'pyarrow'. Install it, or write .csv.")


class _ProgressLine:
    """Progress line on the error stream of a terminal."""

    def __init__(self, counts: bool, interruption: Interruption) -> None:
        self.counts, self.interruption, self._said = counts, interruption, -math.inf

    def __call__(self, progress: Progress) -> None:
        self.interruption.begun = True
        end, now = progress.done == progress.total, time.monotonic()
        if self.counts and (end or now - self._said > 0.1):
            self._said = now
            say_progress(f"{progress!s:70}", end=end)
