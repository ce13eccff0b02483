"""kinetostat check FILE: report findings about a model."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from app.cli.machine import FILE, read, reading_options
from app.cli.terminal import say


@click.command("check")
@FILE
@click.option("--json", "as_json", is_flag=True, help="Findings as JSON.")
@click.option("--strict", is_flag=True, help="Count warnings as errors.")
@reading_options
def command(model_file: str, as_json: bool, strict: bool, **reading: Any) -> int:
    """Report errors and doubtful values in a model.

    Exit code 1 if errors are found, 0 otherwise.
    """
    from core.constraints.mobility.findings import check

    result = read(model_file, **reading)
    findings = list(dict.fromkeys([*result.findings, *check(result.model)]))
    counts = {severity: sum(f.severity == severity for f in findings) for severity in ("error", "warning", "hint")}
    if as_json:
        import json

        listed = [dataclasses.asdict(f) for f in findings]
        totals = {f"{k}s": n for k, n in counts.items()}
        say(json.dumps({"file": model_file, **totals, "findings": listed}, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            say(str(finding))
        summary = ", ".join(f"{n} {word}{'s' * (n != 1)}" for word, n in counts.items())
        say(f"{model_file}: {summary}." if findings else f"{model_file}: no findings.")
    return int(bool(counts["error"] or (strict and counts["warning"])))
