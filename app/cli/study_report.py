"""Report the results of a study on the command line."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.studies.study_result import StudyResult, Summary

QUANTILES = {0.05: "5 %", 0.5: "median", 0.95: "95 %"}
MOST_FAILURES = 5
"""Largest number of failed rows shown."""
HEADS = ("mean", "±", "deviation", "least", *QUANTILES.values(), "largest")
WIDTHS = (13, 10, 11, 13, 13, 13, 13, 13)


def text_of(found: StudyResult, file: str | None) -> str:
    """Return a line for each recorded number, summarised over the rows that succeeded, then the failed rows."""
    failed = found.failed
    rate, low, high = (100.0 * part for part in found.failure_rate)
    interval = f" ({rate:.3g} %, 95 % interval {low:.3g} to {high:.3g} %)" if failed else ""
    lines = [f"{len(found)} rows, {len(failed)} failed{interval}"]
    if len(failed) < len(found) and found.recorded:
        lines.append(" ".join([" " * 20, *(f"{head:>{width}}" for head, width in zip(HEADS, WIDTHS, strict=True))]))
        lines += [_summary_line(name, found.unit(name), found.summary(name)) for name in found.recorded]
    lines += [f"Row {each.row}: {each.status}. {each.message}" for each in failed[:MOST_FAILURES]]
    if len(failed) > MOST_FAILURES:
        lines.append(f"… and {len(failed) - MOST_FAILURES} more.")
    return "\n".join([*lines, f"Wrote {file}"] if file else lines)


def _summary_line(name: str, unit: str, each: Summary) -> str:
    quantiles = (each.quantiles[q] for q in QUANTILES)
    numbers = (each.mean, each.error, each.deviation, each.least, *quantiles, each.most)
    texts = (f"{x:{width}.6g}" if width > 11 else f"{x:{width}.3g}" for x, width in zip(numbers, WIDTHS, strict=True))
    return " ".join([f"{name:>20}", *texts, *([f" {unit}"] if unit else [])])


def json_of(found: StudyResult, file: str | None) -> str:
    """Return the summary of a study as JSON, in SI units."""
    failed = found.failed
    names = found.recorded if len(failed) < len(found) else ()
    recorded = {}
    for name in names:
        each = found.summary(name)
        quantiles = {str(q): value for q, value in each.quantiles.items()}
        recorded[name] = {"unit": found.unit(name), **each._asdict(), "quantiles": quantiles}
    report = {
        "rows": len(found.rows.done),
        "done": len(found),
        "failed": dict(Counter(each.status for each in failed)),
        "recorded": recorded,
        "file": file,
    }
    return json.dumps(report, indent=2, ensure_ascii=False)
