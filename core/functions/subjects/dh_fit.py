"""Function that fits a Denavit–Hartenberg table to any serial chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.functions.context import Context
from core.functions.function import Function, needs_motion
from core.functions.options import Choice, FrameName, OutputFile
from core.functions.results import FrameTable, Matrix, Message, PlacedFrame, Report, Result, rows_of
from core.functions.text import Amount, Column
from core.model.formula.numerals import readable

if TYPE_CHECKING:
    from core.analysis.dh_fit import Fit
    from core.model import DHChain, Finding, Model


def fit_dh_table(context: Context, convention: str, tip: str, file: str) -> Result:
    """Compute the DH parameters of the chain to a frame, base and tool transforms and the residual; write a file if one
    is named."""
    from core.analysis.dh_fit import fit

    found = fit(context.mech, tip, convention)
    rows = tuple(
        (
            row.joint,
            row.kind,
            Amount(row.a, "length"),
            Amount(row.alpha, "angle"),
            Amount(row.d, "length"),
            Amount(row.theta, "angle"),
        )
        for row in found.rows
    )
    columns = tuple(map(Column, ("Joint", "Type", "a", "α", "d", "θ")))
    note = (
        f"{convention} convention; θ of a revolute and d of a prismatic joint are added to its coordinate; "
        f"residual of '{found.tip}' over poses {_residual_text(found.position)} m, {_residual_text(found.rotation)} rad"
    )
    parts: list[Result] = [
        FrameTable(
            title=f"DH table to {found.tip}",
            columns=columns,
            rows=rows,
            note=note,
            convention=convention,
            joints=tuple(row.joint for row in found.rows),
            own=found.bodies,
            frames=_placed_frames(found),
            chain=found.chain(),
        ),
        Matrix(title="Base", symbol="X_{W0}", entries=rows_of(found.base), note="frame 0 in the world"),
        Matrix(
            title="Tool",
            symbol=f"X_{{{len(rows)}T}}",
            entries=rows_of(found.tool),
            note=f"{found.tip} in frame {len(rows)}",
        ),
    ]
    if file:
        write_table(context.model, found.chain(), file)
        parts.append(Message(text=f"Wrote {file}."))
    return Report(title="DH table of the chain", parts=tuple(parts))


def _residual_text(residual: float) -> str:
    """Format a residual; rounding errors are shown without digits."""
    return readable(f"{residual:.1e}") if residual > 1e-12 else "under 10⁻¹²"


def _placed_frames(found: Fit) -> tuple[PlacedFrame, ...]:
    """Return frames 0 … n as frames fixed to their bodies."""
    assert found.attached is not None
    return tuple(
        PlacedFrame(str(i), body, rows_of(X))
        for i, (body, X) in enumerate(zip(found.bodies, found.attached, strict=True))
    )


def write_table(model: Model, chain: DHChain, file: str) -> tuple[Finding, ...]:
    """Write a model file with only the table (native, CSV, TOML, Robotica); return notes on what the format cannot
    store.

    Raises FileError if it cannot be written.
    """
    from core.files import save
    from core.model import Model

    return tuple(save(Model(name=f"{model.name} (DH)", world=model.world, chains=(chain,)), file))


def needs_serial_chain(context: Context) -> str:
    """Require that only revolute and prismatic joints lead to the tool; returns the reason if not, else ''."""
    from core.analysis.dh_fit import obstacle

    return obstacle(context.model, context.mech)


FUNCTIONS = (
    Function(
        "fit_dh_table",
        "Find DH table",
        "Robot description",
        "Denavit–Hartenberg parameters, standard or modified, of the chain to any frame, whatever its file.\n\n"
        "Frames are put on the common normals of neighbouring axes; base and tool transforms take up the rest. The "
        "residual is the largest deviation of the tip over random poses. Joints that no table can hold are named.",
        fit_dh_table,
        (
            Choice("convention", "Convention", "Distal or Craig's", "standard", ("standard", "modified")),
            FrameName("tip", "Tip", "Body or frame at the end of the chain; empty: the tool"),
            OutputFile("file", "File", "Model file for the table", suffixes=(".kst", ".csv", ".toml", ".rob")),
        ),
        (needs_motion, needs_serial_chain),
        robotica="DataFile",
        reads="machine",
    ),
)
