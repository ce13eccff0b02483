"""Function for parameter studies: a machine is evaluated many times with varied numbers, and the results are reported
as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.functions.context import Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, Integer, Number, OutputFile, Text
from core.functions.results import Message, Report, Result, Table
from core.functions.text import Cell, Column
from core.model.study_plans import ROW_KINDS, SAMPLINGS

if TYPE_CHECKING:
    from core.studies.study import Study
    from core.studies.study_result import StudyResult
    from core.studies.study_work import Progress

MOST_FAILURES = 20
"""Largest number of failed rows that are listed."""
BINS = 24
TITLE = "Study"


def parameter_study(
    context: Context,
    study: str,
    vary: str,
    record: str,
    kind: str,
    frame: str,
    count: int,
    how: str,
    seed: int,
    duration: float | None,
    step: float | None,
    save: str,
) -> Result:
    """Evaluate the machine for each row of a study, and report statistics of the results."""
    if not study.strip() and not vary.strip():
        asked = ", ".join(each.name for each in context.model.studies)
        free = ", ".join(context.mech.p_names) or "none; initial values (joint.q, joint.v) can be varied"
        text = f"Give the quantities to vary, e.g. m=normal(2, 0.05); l=0.3:0.5:21. Free parameters: {free}."
        text += f" Studies in the document: {asked}." if asked else ""
        return Report(title=TITLE, parts=(Message(text=text, severity="hint"),))
    options: dict[str, Any] = {"duration": duration, "step": step}
    made = _build_study(context, study.strip(), vary, record, kind, frame, count, how, seed, options)
    context.step(0, made.size, "Preparing")

    def report_progress(progress: Progress) -> None:
        context.step(progress.done, progress.total, f"{progress.done} of {progress.total} rows")

    found = made.run(progress=report_progress)
    if save:
        found.to_csv(save)
    return build_report(found, save)


def _build_study(
    context: Context,
    name: str,
    vary: str,
    record: str,
    kind: str,
    frame: str,
    count: int,
    sampling_method: str,
    seed: int,
    options: dict[str, Any],
) -> Study:
    """Build the study from the strings of the options, or from a study of the document. Raises KinetostatError that
    names the invalid part."""
    from core.studies.study import Study
    from core.studies.study_text import StudyText, parse_name_lines

    if name:
        return Study.named(context.mech, name)
    runs = {key: value for key, value in options.items() if value is not None}
    runs |= {"method": "rk4"} if options["step"] is not None else {}
    recorded = parse_name_lines(record, "option 'record'", default_name="r")
    varied = parse_name_lines(vary, "option 'vary'")
    return Study.of_text(
        context.mech, StudyText(varied, recorded, kind, count, seed, sampling_method, frame, options=runs)
    )


def build_report(found: StudyResult, save: str = "") -> Report:
    """Report the outcome of a study."""
    failed = found.failed
    rate, low, high = (100.0 * part for part in found.failure_rate)
    text = f"{len(found)} rows, {len(failed)} failed"
    text += f" ({rate:.3g} %; 95 % interval {low:.3g} to {high:.3g} %)." if failed else "."
    text += f" All rows have been written to {save}." if save else ""
    severity = "done" if not failed else "warning"
    parts: list[Result] = [Message(text=text, severity=severity)]
    if len(failed) < len(found) and found.recorded:
        parts += [_statistics_table(found), *_sensitivity_tables(found), _histogram_diagram(found, found.recorded[0])]
    if failed:
        rows = tuple((each.row, each.status, each.message) for each in failed[:MOST_FAILURES])
        note = f"{len(failed) - MOST_FAILURES} more" if len(failed) > MOST_FAILURES else ""
        columns = (Column("Row"), Column("Outcome"), Column("Why"))
        parts.append(Table(title="Failed rows", columns=columns, rows=rows, note=note))
    return Report(title=TITLE, parts=tuple(parts))


def _round_to_digits(x: float, digits: int = 6) -> float:
    return float(f"{x:.{digits}g}")


def _statistics_table(result: StudyResult) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in result.recorded:
        each = result.summary(name)
        numbers = (each.mean, each.error, each.deviation, each.least, *(each.quantiles[q] for q in (0.05, 0.5, 0.95)))
        rows.append((name, result.unit(name), *(_round_to_digits(x) for x in (*numbers, each.most))))
    heads = ("Quantity", "Unit", "Mean", "±", "Standard deviation", "Smallest", "5 %", "Median", "95 %", "Largest")
    note = "SI, over the rows that succeeded; ±: 95 % confidence interval of the mean"
    return Table(title="Recorded", columns=tuple(map(Column, heads)), rows=tuple(rows), note=note)


def _sensitivity_tables(result: StudyResult) -> list[Table]:
    """Table of each result's sensitivities to the varied parameters, largest first."""
    rows = []
    for name in result.recorded:
        for each in result.tornado(name):
            rows.append(
                (
                    name,
                    each.name,
                    _round_to_digits(each.low),
                    _round_to_digits(each.high),
                    _round_to_digits(each.rank, 3),
                )
            )
    heads = ("Quantity", "Varied quantity", "Mean at small values", "Mean at large values", "Rank correlation")
    note = "means over the fifth of the rows with the smallest, and with the largest, values of the varied quantity"
    return (
        [Table(title="Sensitivities", columns=tuple(map(Column, heads)), rows=tuple(rows), note=note)] if rows else []
    )


def _histogram_diagram(result: StudyResult, name: str) -> Diagram:
    import numpy as np

    values = result.column(name)[result.good]
    counts, edges = np.histogram(values, bins=BINS)
    across = np.repeat(edges, 2)
    up = np.concatenate([[0.0], np.repeat(counts, 2), [0.0]])
    unit = result.unit(name)
    series = Series(name, tuple(map(float, across)), tuple(map(float, up)))
    return Diagram(
        title=f"Distribution of {name}", across=f"{name}, {unit}" if unit else name, up="rows", series=(series,)
    )


FUNCTIONS = (
    Function(
        "parameter_study",
        "Study of many rows (Monte Carlo)",
        "Mechanisms",
        "Many runs or poses of the machine with varied parameters, and their statistics.\n\n"
        "Varied quantities: parameters, initial values (joint.q, joint.v), duration, step; given as ranges "
        "(0.3:0.5:21), lists (0, 5, 10) or distributions (normal, lognormal, uniform, triangular). Ranges "
        "and lists are combined with one another, distributions are sampled. Recorded quantities: for runs, "
        "measures such as max(abs(joint.tau)) or at(frame.position, end); for poses, formulas of channels "
        "and FRAME.manipulability. A row that fails is listed with the reason. Diagrams, several "
        "processes and clusters are available in the panel Studies and with kinetostat study.",
        parameter_study,
        (
            Text("study", "Study", "Name of a study of the document; empty: a study given by the options below"),
            Text(
                "vary",
                "Vary",
                "Quantities to vary, separated by semicolons: m=normal(2, 0.05); l=0.3:0.5:21; joint.v=0, 1",
                joined="; ",
            ),
            Text(
                "record",
                "Record",
                "Quantities to record, separated by semicolons: worst=max(abs(joint.tau)); tip=at(frame.position, end)",
                joined="; ",
            ),
            Choice("kind", "Rows are", "What is computed for each row: a run, a pose …", "runs", choices=ROW_KINDS),
            Text(
                "frame",
                "Frame",
                "Frame for rows that are targets: it is brought to x, y, z by inverse kinematics; empty: the tool",
            ),
            Integer(
                "count", "Samples", "Number of samples of the distributions, which are drawn jointly", 200, 1, 1_000_000
            ),
            Choice("how", "How", "Sampling method", "random", choices=SAMPLINGS),
            Integer(
                "seed", "Seed", "Seed of the random numbers; the same seed gives the same samples", 1, 0, 2**31 - 1
            ),
            Number("duration", "Run", "Duration of a run, s", 1.0, dimension="time", minimum=1e-6),
            Number(
                "step",
                "Step",
                "Step size of the Runge–Kutta 4 method, s; empty: variable steps",
                None,
                dimension="time",
                minimum=1e-9,
            ),
            OutputFile("save", "Save as", "File for all rows; empty: none", suffixes=(".csv",)),
        ),
        needs=(needs_motion,),
        reads="machine",
        also=("Monte Carlo", "tolerance analysis", "sensitivity", "parameter sweep", "design of experiments"),
    ),
)
