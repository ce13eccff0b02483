"""Functions for design: linkages that trace a curve, and parameters that optimise a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ModelError
from core.files.regular_file import MODEL, content_of
from core.functions.context import Cancelled, Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_motion
from core.functions.option_texts import quantity
from core.functions.options import Choice, Flag, InputFile, Integer, Number, OutputFile, Text
from core.functions.results import Message, PoseSequence, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.design.design import Design
    from core.design.designed import Designed
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

TOPOLOGY_TITLES = {
    "four_bar": "Four-bar",
    "slider_crank": "Slider-crank",
    "swinging_block": "Swinging block",
    "watt": "Watt's six-bar",
    "stephenson": "Stephenson's six-bar",
    "auto": "Any of them",
}
SOLVER_NAMES = ("auto", "least_squares", "SLSQP", "trust-constr", "IPOPT", "differential_evolution")
SHOWN = 160
"""Largest number of points of a curve in a diagram."""
FITS_OF_A_START, RESULTS = 24, 5
"""Number of atlas entries tried for each start, and largest number of linkages, where a design asks for a linkage."""


def path_synthesis(
    context: Context,
    points: str,
    file: str,
    closed: bool,
    timed: bool,
    smooth: int,
    topology: str,
    starts: int,
    count: int,
    save: str,
) -> Result:
    """Find linkages with a point that follows a given curve."""
    if not points.strip() and not file:
        text = "Give points, as 0.1 0.2; 0.3 0.25; 0.2 0.4, or a file of them (CSV or SVG)."
        return Report(title="Path synthesis", parts=(Message(text=text, severity="hint"),))
    target = _target(points, file, closed, timed)
    if smooth:
        target = target.smoothed(smooth)
    return _linkages(context, target, topology, starts, count, save)


def _linkages(context: Context, target: Target, topology: str, starts: int, count: int, save: str) -> Report:
    """Find linkages for a target curve, and report their table, dimensions and curves."""
    from core.design.path_synthesis import synthesise

    context.step(0, 2, "Atlas and fits")
    found = synthesise(target, topology, starts=starts, count=count, stop=context.cancelled)
    if not found:
        raise Cancelled
    parts: list[Result] = [_verdict(found[0]), _solutions(found), _dimensions(found[0]), _curves(target, found)]
    if save:
        from core.files import save as write

        write(found[0].model, save)
        parts.append(Message(text=f"The first linkage has been written to {save}."))
    return Report(title="Path synthesis", parts=tuple(parts))


def _target(points: str, file: str, closed: bool, timed: bool) -> Target:
    from core.design.target_curves import from_csv, from_svg

    if not file:
        rows = "\n".join(each.strip() for each in points.strip().split(";"))
        found = from_csv(rows, closed=closed, name="option 'points'")
    else:
        text = content_of(file, MODEL).decode("utf-8", errors="replace")
        found = from_svg(text, name=file) if file.lower().endswith(".svg") else from_csv(text, closed=closed, name=file)
    return found.timed() if timed and found.times is None else found


def _verdict(best: Linkage) -> Message:
    title = TOPOLOGY_TITLES[best.topology]
    away = f"{best.error:.3g} m from the curve (root of the mean square), {best.largest:.3g} m at most"
    if best.defects:
        return Message(text=f"{title}: {away}. {' '.join(best.defects)}", severity="warning")
    return Message(text=f"{title}: {away}; no branch, order or circuit defect.", severity="done")


def _solutions(found: tuple[Linkage, ...]) -> Table:
    from core.functions.text import without_rounding_errors

    errors = without_rounding_errors([each.error for each in found], 1e-6)
    rows = [
        (TOPOLOGY_TITLES[each.topology], float(error), float(without_rounding_errors([each.relative], 1e-9)[0]),
         "turns" if each.turns else "swings", " ".join(each.defects) or "none")
        for each, error in zip(found, errors, strict=True)
    ]  # fmt: skip
    columns = (Column("Linkage"), Column("Off, m"), Column("Off, sizes"), Column("Crank"), Column("Defects"))
    return Table(title="Solutions", columns=columns, rows=tuple(rows))


def _dimensions(best: Linkage) -> Table:
    """List the link lengths of the best linkage and of its cognates."""
    others = best.cognates()
    columns = (Column("Parameter"), Column("Value"), *(Column(f"Cognate {k + 1}") for k in range(len(others))))
    rows: list[tuple[Cell, ...]] = [
        (name, round(value, 9), *(round(each[name], 9) for each in others)) for name, value in best.lengths.items()
    ]
    note = "m, rad; cognates draw the same curve (Roberts)" if others else "m, rad"
    return Table(title="Dimensions of the first", columns=columns, rows=tuple(rows), note=note)


def _curves(target: Target, found: tuple[Linkage, ...]) -> Diagram:
    x, z = (tuple(map(float, axis)) for axis in target.points.T)
    series = [Series("target", x, z, mark="o")]
    for k, each in enumerate(found[:3], 1):
        across, up = (tuple(map(float, axis)) for axis in each.curve(SHOWN).T)
        series.append(Series(f"solution {k}", across, up))
    return Diagram(title="Curves", across="x, m", up="z, m", series=tuple(series), square=True)


def optimise(
    context: Context,
    design: str,
    vary: str,
    minimise: str,
    require: str,
    sweep: str,
    duration: float | None,
    starts: int,
    solver: str,
    seed: int,
    save: str,
) -> Result:
    """Find parameter values that minimise a formula."""
    if not design.strip() and (not vary.strip() or not minimise.strip()):
        free = ", ".join(context.mech.p_names) or "none; give the model parameters"
        text = f"Name what is varied and what is to be least. Free parameters: {free}."
        return Report(title="Optimisation", parts=(Message(text=text, severity="hint"),))
    if design.strip():
        from core.design.asked_designs import asked_aim, asked_design, asked_target

        aim = asked_aim(context.model, design.strip())
        if aim.kind == "curve":
            curve = asked_target(context.model, design.strip())
            return _linkages(context, curve, aim.linkage, FITS_OF_A_START * starts, RESULTS, save)
        problem = asked_design(context.model, design.strip())
    else:
        problem = design_of(context, vary, minimise, require, sweep, duration)
    context.step(0, 1, "Search")
    found = problem.solve(starts, solver, seed, cancelled=context.cancelled)
    if save:
        from core.files import save as write

        write(found.model, save)
    return report_of(context, found, save)


def design_of(context: Context, vary: str, minimise: str, require: str, sweep: str, duration: float | None) -> Design:
    """Build the design problem from the texts of the options. Raises ModelError naming the part."""
    from core.design.design import Design

    design = Design(context.model)
    for part in (part.strip() for part in vary.split(",") if part.strip()):
        name, _, bounds = (each.strip() for each in part.partition("="))
        if not bounds:
            design.vary(name)
            continue
        low, colon, high = bounds.partition(":")
        if not colon:
            raise ModelError(f"'{part}' has only one bound.", where="option 'vary'", remedy="Write name=low:high.")
        known = context.model.expanded.find("parameters", name)
        of = Number("vary", "Bounds", dimension=known.dimension if known is not None else "none")
        design.vary(**{name: (quantity(low, context, of), quantity(high, context, of))})
    design.minimise(minimise)
    design.require(*(each.strip() for each in require.split(";") if each.strip()))
    if sweep.strip():
        name, _, bounds = (each.strip() for each in sweep.partition("="))
        angle = Number("sweep", "Sweep", dimension=_dimension_of_name(context, name))
        if not bounds:
            design.sweep(name)
        else:
            start, _, stop = bounds.partition(":")
            design.sweep(name, quantity(start, context, angle), quantity(stop, context, angle))
    elif duration:
        design.run(duration)
    return design


def _dimension_of_name(context: Context, name: str) -> str:
    return next((each.dimension for each in context.mech.coordinates if each.name == name), "angle")


def report_of(context: Context, found: Designed, save: str = "") -> Report:
    """Report the outcome of an optimisation."""
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    best = found.best
    names = tuple(best.parameters)
    reached = [row for row in found.table if row.state != "failed"]
    text = f"{best.value:.6g} at the best of {len(reached)} starts that came to a value, of {len(found.table)}."
    text += f" By {found.solver} ({found.reason}), slopes {found.slopes}."
    if best.at_bounds:
        text += f" At a bound: {', '.join(best.at_bounds)}."
    if best.missed:
        text += f" {best.conflict}"
    if found.alike:
        text += f" These cannot be told apart: {', '.join(found.alike)}."
    if save:
        text += f" The machine stands in {save}."
    rows = []
    for row in found.table:
        values = without_rounding_errors([row.parameters[name] for name in names], SOLVED_FRACTION)
        value = float(f"{row.value:.9g}") if row.state != "failed" else None
        rows.append((row.number, row.state, value, *(float(f"{x:.6g}") for x in values), row.message))
    columns = (Column("Start"), Column("State"), Column("Value"), *(Column(name) for name in names), Column("Ended"))
    table = Table(title="Starts", columns=columns, rows=tuple(rows), note="SI; start 0 is the present machine")
    order = sorted(found.sensitivities.items(), key=lambda item: -item[1])
    slopes = tuple((name, float(f"{size:.4g}")) for name, size in order)
    moved = Table(title="Sensitivities", columns=(Column("Parameter"), Column("Change over its bounds")), rows=slopes)
    p = dict(best.parameters)
    q = context.mech.rest({**context.p, **p})
    pose = PoseSequence(title="The best machine", q=(tuple(map(float, q)),), p=(p,), display="single")
    severity = "warning" if best.missed else "done"
    return Report(title="Optimisation", parts=(Message(text=text, severity=severity), table, moved, pose))


_SAVE = OutputFile("save", "Save the best as", "File of the machine; empty: none", suffixes=(".kst",))

FUNCTIONS = (
    Function(
        "path_synthesis",
        "Linkage for a curve (path synthesis)",
        "Mechanisms",
        "Linkages of which a point follows a curve.\n\nThe curve is typed or read, closed or an arc, with the crank's "
        "time (points even in it) or without. An atlas of 100,000 linkages of the kind is made once, the nearest are "
        "found in closed form and refined with exact slopes. What keeps a linkage from running through the points in "
        "order is named: circuit, branch and order defects; the cognates of a four-bar are given.",
        path_synthesis,
        (
            Text("points", "Points", "x z; x z; … in metres", joined="; "),
            InputFile(
                "file", "File", "Points as CSV (x, z[, time]) or an SVG path (mm)", suffixes=(".csv", ".txt", ".svg")
            ),
            Flag("closed", "Closed", "The last point is followed by the first", True),
            Flag("timed", "Timed", "The points are even in the crank's turn"),
            Integer("smooth", "Fourier terms", "By which the curve is smoothed first; 0: not", 0, 0, 30),
            Choice(
                "topology",
                "Kind",
                "Kind of linkage",
                "four_bar",
                choices=tuple(TOPOLOGY_TITLES),
                titles=TOPOLOGY_TITLES,
            ),
            Integer("starts", "Starts", "Members of the atlas that are refined", 120, 1, 5000),
            Integer("count", "Results", "Linkages at most", 5, 1, 50),
            _SAVE,
        ),
        apart=True,
        reads="nothing",
        also=("coupler curve", "dimensional synthesis", "four-bar synthesis", "nine points"),
    ),
    Function(
        "optimise",
        "Optimise parameters (design)",
        "Mechanisms",
        "Parameters of the machine by which a formula is least.\n\nThe formula reduces channels over poses along a "
        "coordinate, or over a run, to a number: rms, mean, max, min, span, integral, at(channel, time); "
        "mode[1].frequency and .period are of the small oscillations at rest. Requirements are comparisons. The solver "
        "is chosen with a reason; starts that fail are rows of the table.",
        optimise,
        (
            Text("design", "Design", "Name of a design of the document, in place of what follows; empty: none"),
            Text("vary", "Vary", "a, b=0.1:0.3 … ; without bounds those of the parameter", joined=", "),
            Text("minimise", "Minimise", "span(frame.position.z), (mode[1].period - 1)^2 …"),
            Text("require", "Require", "min(frame.position.z) > 5 cm; … ", joined="; "),
            Text("sweep", "Poses along", "joint, or joint=0 deg:180 deg; empty: the rest pose, or a run"),
            Number("duration", "Run", "Duration of a run, s; empty: none", None, dimension="time", minimum=1e-6),
            Integer("starts", "Starts", "The present values, and others within the bounds", 5, 1, 1000),
            Choice("solver", "Solver", "Chosen with a reason, or named", "auto", choices=SOLVER_NAMES),
            Integer("seed", "Seed", "The same seed gives the same starts", 0, 0, 2**31 - 1),
            _SAVE,
        ),
        needs=(needs_motion,),
        apart=True,
        reads="machine",
        also=("optimisation", "design of experiments", "parameter fit", "tuning"),
    ),
)
