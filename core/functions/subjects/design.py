"""Functions for design: linkages that trace a curve, and parameters that optimise a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ModelError
from core.files.regular_file import MODEL, read_content
from core.functions.context import Cancelled, Context
from core.functions.diagrams import Diagram, Series
from core.functions.function import Function, needs_motion
from core.functions.option_texts import parse_quantity
from core.functions.options import Choice, Flag, InputFile, Integer, Number, OutputFile, Text
from core.functions.results import Message, PoseSequence, Report, Result, Table
from core.functions.text import Cell, Column

if TYPE_CHECKING:
    from core.design.design import Design
    from core.design.designed import OptimisationResult
    from core.design.path_synthesis import Linkage
    from core.design.target_curves import Target

TOPOLOGY_TITLES = {
    "four_bar": "Four-bar",
    "slider_crank": "Slider-crank",
    "swinging_block": "Swinging block",
    "watt": "Watt's six-bar",
    "stephenson": "Stephenson's six-bar",
    "auto": "All of these",
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
        text = "Give points of the curve, such as 0.1 0.2; 0.3 0.25; 0.2 0.4, or a file with points (CSV or SVG)."
        return Report(title="Path synthesis", parts=(Message(text=text, severity="hint"),))
    target = _read_target(points, file, closed, timed)
    if smooth:
        target = target.smoothed(smooth)
    return _find_linkages(context, target, topology, starts, count, save)


def _find_linkages(context: Context, target: Target, topology: str, starts: int, count: int, save: str) -> Report:
    """Find linkages for a target curve, and return a report with their table, dimensions and curves."""
    from core.design.path_synthesis import synthesise

    context.step(0, 2, "Search in the atlas and refinement")
    found = synthesise(target, topology, starts=starts, count=count, stop=context.cancelled)
    if not found:
        raise Cancelled
    parts: list[Result] = [
        _verdict_message(found[0]),
        _solution_table(found),
        _dimension_table(found[0]),
        _curve_diagram(target, found),
    ]
    if save:
        from core.files import save as write

        write(found[0].model, save)
        parts.append(Message(text=f"The first linkage has been written to {save}."))
    return Report(title="Path synthesis", parts=tuple(parts))


def _read_target(points: str, file: str, closed: bool, timed: bool) -> Target:
    from core.design.target_curves import target_from_csv, target_from_svg

    if not file:
        rows = "\n".join(each.strip() for each in points.strip().split(";"))
        found = target_from_csv(rows, closed=closed, name="option 'points'")
    else:
        text = read_content(file, MODEL).decode("utf-8", errors="replace")
        found = (
            target_from_svg(text, name=file)
            if file.lower().endswith(".svg")
            else target_from_csv(text, closed=closed, name=file)
        )
    return found.timed() if timed and found.times is None else found


def _verdict_message(best: Linkage) -> Message:
    from core.design.path_synthesis import STEPS

    title = TOPOLOGY_TITLES[best.topology]
    away = f"RMS distance {best.error:.3g} m from the curve, largest distance {best.largest:.3g} m"
    if best.defects:
        return Message(text=f"{title}: {away}. {' '.join(best.defects)}", severity="warning")
    tried = f"no branch, order or circuit defect was found at the points or at {STEPS - 1} places between each two"
    return Message(text=f"{title}: {away}; {tried}.", severity="done")


def _solution_table(linkages: tuple[Linkage, ...]) -> Table:
    from core.functions.text import without_rounding_errors

    errors = without_rounding_errors([each.error for each in linkages], 1e-6)
    rows = [
        (TOPOLOGY_TITLES[each.topology], float(error), float(without_rounding_errors([each.relative], 1e-9)[0]),
         "turns" if each.has_full_crank_turn else "swings", " ".join(each.defects) or "none")
        for each, error in zip(linkages, errors, strict=True)
    ]  # fmt: skip
    columns = (
        Column("Linkage"),
        Column("RMS error, m"),
        Column("RMS error / curve size"),
        Column("Crank"),
        Column("Defects"),
    )
    return Table(title="Solutions", columns=columns, rows=tuple(rows))


def _dimension_table(best: Linkage) -> Table:
    """List the link lengths of the best linkage and of its cognates."""
    others = best.cognates()
    columns = (Column("Parameter"), Column("Value"), *(Column(f"Cognate {k + 1}") for k in range(len(others))))
    rows: list[tuple[Cell, ...]] = [
        (name, round(value, 9), *(round(each[name], 9) for each in others)) for name, value in best.lengths.items()
    ]
    note = "m, rad; the cognates trace the same curve (Roberts)" if others else "m, rad"
    return Table(title="Dimensions of the first linkage", columns=columns, rows=tuple(rows), note=note)


def _curve_diagram(target: Target, linkages: tuple[Linkage, ...]) -> Diagram:
    x, z = (tuple(map(float, axis)) for axis in target.points.T)
    series = [Series("target", x, z, mark="o")]
    for k, each in enumerate(linkages[:3], 1):
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
        free = ", ".join(context.mech.p_names) or "none; add parameters to the model"
        text = f"Give the parameters to vary and the formula to minimise. Free parameters: {free}."
        return Report(title="Optimisation", parts=(Message(text=text, severity="hint"),))
    if design.strip():
        from core.design.asked_designs import asked_design, asked_target, find_design_aim

        aim = find_design_aim(context.model, design.strip())
        if aim.kind == "curve":
            curve = asked_target(context.model, design.strip())
            return _find_linkages(context, curve, aim.linkage, FITS_OF_A_START * starts, RESULTS, save)
        problem = asked_design(context.model, design.strip())
    else:
        problem = design_from_options(context, vary, minimise, require, sweep, duration)
    context.step(0, 1, "Search")
    found = problem.solve(starts, solver, seed, cancelled=context.cancelled)
    if save:
        from core.files import save as write

        write(found.model, save)
    return build_report(context, found, save)


def design_from_options(
    context: Context, vary: str, minimise: str, require: str, sweep: str, duration: float | None
) -> Design:
    """Build the design problem from the strings of the options. Raises ModelError that names the invalid part."""
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
        design.vary(**{name: (parse_quantity(low, context, of), parse_quantity(high, context, of))})
    design.minimise(minimise)
    design.require(*(each.strip() for each in require.split(";") if each.strip()))
    if sweep.strip():
        name, _, bounds = (each.strip() for each in sweep.partition("="))
        angle = Number("sweep", "Sweep", dimension=_dimension_of_parameter(context, name))
        if not bounds:
            design.sweep(name)
        else:
            start, _, stop = bounds.partition(":")
            design.sweep(name, parse_quantity(start, context, angle), parse_quantity(stop, context, angle))
    elif duration:
        design.run(duration)
    return design


def _dimension_of_parameter(context: Context, name: str) -> str:
    return next((each.dimension for each in context.mech.coordinates if each.name == name), "angle")


def build_report(context: Context, found: OptimisationResult, save: str = "") -> Report:
    """Report the outcome of an optimisation."""
    from core.functions.text import SOLVED_FRACTION, without_rounding_errors

    best = found.best
    names = tuple(best.parameters)
    reached = [row for row in found.table if row.state != "failed"]
    text = f"Smallest value {best.value:.6g}; {len(reached)} of {len(found.table)} starts gave a result."
    text += f" Solver {found.solver} ({found.reason}), derivatives {found.slopes}."
    if best.at_bounds:
        text += f" At their bounds: {', '.join(best.at_bounds)}."
    if best.missed:
        text += f" {best.violated_requirements_text}"
    if found.alike:
        text += f" At this point these parameters cannot be distinguished to first order: {', '.join(found.alike)}."
    if save:
        text += f" The machine has been written to {save}."
    rows = []
    for row in found.table:
        values = without_rounding_errors([row.parameters[name] for name in names], SOLVED_FRACTION)
        value = float(f"{row.value:.9g}") if row.state != "failed" else None
        rows.append((row.number, row.state, value, *(float(f"{x:.6g}") for x in values), row.message))
    columns = (Column("Start"), Column("State"), Column("Value"), *(Column(name) for name in names), Column("Outcome"))
    table = Table(title="Starts", columns=columns, rows=tuple(rows), note="SI; start 0 begins at the present values")
    order = sorted(found.sensitivities.items(), key=lambda item: -item[1])
    slopes = tuple((name, float(f"{size:.4g}")) for name, size in order)
    moved = Table(
        title="Sensitivities",
        columns=(Column("Parameter"), Column("Change of the objective over the parameter's bounds")),
        rows=slopes,
    )
    p = dict(best.parameters)
    q = context.mech.rest({**context.p, **p})
    pose = PoseSequence(title="The best machine", q=(tuple(map(float, q)),), p=(p,), display="single")
    severity = "warning" if best.missed else "done"
    return Report(title="Optimisation", parts=(Message(text=text, severity=severity), table, moved, pose))


_SAVE = OutputFile("save", "Save the best as", "Machine file (.kst) for the result; empty: none", suffixes=(".kst",))

FUNCTIONS = (
    Function(
        "path_synthesis",
        "Linkage for a curve (path synthesis)",
        "Mechanisms",
        "Find linkages with a point that follows a given curve.\n\n"
        "The curve is typed or read from a file; it is closed or open, with or without prescribed timing "
        "(points at equal crank intervals). An atlas of 100,000 linkages of each kind is computed once; the "
        "nearest ones are scaled and placed in closed form, then refined with exact derivatives. Circuit, "
        "branch and order defects, which keep a linkage from passing through the points in order, are "
        "reported; for a four-bar its cognates are given.",
        path_synthesis,
        (
            Text("points", "Points", "Points of the curve as x z; x z; … in m", joined="; "),
            InputFile(
                "file",
                "File",
                "File with the points, as CSV (x, z[, time] in m, s) or an SVG path (in mm); empty: the points given "
                "above",
                suffixes=(".csv", ".txt", ".svg"),
            ),
            Flag("closed", "Closed", "Closed curve: the last point is joined to the first", True),
            Flag("timed", "Timed", "Prescribed timing: the points are reached at equal intervals of the crank angle"),
            Integer(
                "smooth",
                "Fourier terms",
                "Number of Fourier terms by which the curve is smoothed before the search; 0: no smoothing",
                0,
                0,
                30,
            ),
            Choice(
                "topology",
                "Kind",
                "Kind of linkage",
                "four_bar",
                choices=tuple(TOPOLOGY_TITLES),
                titles=TOPOLOGY_TITLES,
            ),
            Integer("starts", "Starts", "Number of linkages of the atlas that are refined", 120, 1, 5000),
            Integer("count", "Results", "Largest number of linkages to report", 5, 1, 50),
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
        "Find values of the machine's parameters that minimise a formula.\n\n"
        "The formula reduces channels to a number, over poses along a coordinate or over a run: rms, mean, "
        "max, min, span, integral, at(channel, time); mode[1].frequency and mode[1].period refer to small "
        "oscillations about the reference configuration. Requirements are inequalities. The report gives the "
        "solver and the reason for its choice; starts that fail are listed in the table.",
        optimise,
        (
            Text(
                "design", "Design", "Name of a design of the document, used instead of the options below; empty: none"
            ),
            Text(
                "vary",
                "Vary",
                "Parameters to vary, with bounds: a, b=0.1:0.3 …; without bounds, those of the parameter apply",
                joined=", ",
            ),
            Text("minimise", "Minimise", "Formula to minimise, e.g. span(frame.position.z) or (mode[1].period - 1)^2"),
            Text(
                "require",
                "Require",
                "Inequalities to satisfy, separated by semicolons, e.g. min(frame.position.z) > 5 cm; empty: none",
                joined="; ",
            ),
            Text(
                "sweep",
                "Poses along",
                "Coordinate along which the poses are taken: joint, or joint=0 deg:180 deg; empty: the reference "
                "configuration, or a run if a duration is given",
            ),
            Number("duration", "Run", "Duration of the run, s; empty: no run", None, dimension="time", minimum=1e-6),
            Integer(
                "starts",
                "Starts",
                "Number of starts: the present values, then random values within the bounds",
                5,
                1,
                1000,
            ),
            Choice("solver", "Solver", "Optimiser; auto: chosen to suit the problem", "auto", choices=SOLVER_NAMES),
            Integer("seed", "Seed", "Seed of the random numbers; the same seed gives the same starts", 0, 0, 2**31 - 1),
            _SAVE,
        ),
        needs=(needs_motion,),
        apart=True,
        reads="machine",
        also=("optimisation", "design of experiments", "parameter fit", "tuning"),
    ),
)
