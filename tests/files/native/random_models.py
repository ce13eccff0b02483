"""Random models for hypothesis, made from the same table of fields that readers and editors use."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from core.model import (
    SHAPE_TYPES,
    Aim,
    Annotation,
    Body,
    Constraint,
    CurveRow,
    DesignVariable,
    DHChain,
    DHRow,
    Driver,
    Force,
    Frame,
    Gravity,
    Joint,
    Junction,
    Limit,
    LineMass,
    Material,
    Model,
    Parameter,
    Pose,
    RecordRow,
    RequiredRow,
    Sensor,
    Setting,
    Strand,
    StudyPlan,
    Trim,
    TrimRow,
    VariedRow,
    World,
)
from core.model.constraints import CONSTRAINT_KINDS, MOTIONS
from core.model.fields import (
    ChoiceKind,
    ColorKind,
    FlagKind,
    FormulaKind,
    FormulaVectorKind,
    NameKind,
    NestedElementKind,
    NestedElementsKind,
    ReferenceKind,
    ScalarKind,
    TextKind,
    VectorKind,
    declared_fields,
)

PARAMETERS = ("l1", "m_2", "true", "null", "x.y", "g")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
FORMULAS = st.sampled_from(("2*l1", "30 deg", "-l1", "m_2/(1 + l1^2)", "sin(l1)", "true", "null", "x.y - 1", "pi/2"))
VALUES = st.one_of(NUMBERS, NUMBERS, FORMULAS)
TIMELY = st.sampled_from(("sin(2*t)", "l1*time", "t", "-t^2"))
STATEFUL = st.sampled_from(("reach", "reach.rate*l1", "arm_q.v - t", "spot.x.rate", "arm_q", "2 N"))
RUBBING = {
    "friction": st.one_of(VALUES, TIMELY),
    **dict.fromkeys(
        ("static_friction", "backward_friction", "backward_static_friction"), st.one_of(st.none(), FORMULAS)
    ),
}
"""Numbers at rest that are less than while it slides are refused."""
TEXTS = st.one_of(
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=30),
    st.sampled_from(
        (
            "yes",
            "null",
            "1e3",
            "0x1",
            " a",
            "a ",
            "a: b",
            "a #b",
            "- a",
            "a\nb",
            "a\n\n b\n",
            "\n",
            "\ta\n b",
            "é\u2028",
            "~",
        )
    ),
)
POSES = st.builds(
    Pose,
    position=st.tuples(VALUES, VALUES, VALUES),
    rotation=st.one_of(st.tuples(VALUES, VALUES, VALUES), st.tuples(VALUES, VALUES, VALUES, VALUES)),
)


def values_of(kind: Any, /, **fixed: Any) -> st.SearchStrategy[Any]:
    """Random elements of a class; some fields are left at their defaults."""
    fields = {}
    for field in declared_fields(kind):
        if field.name in fixed:
            fields[field.name] = fixed[field.name]
        elif not isinstance(field.kind, NameKind | ReferenceKind):
            inner = _of_kind(field.kind)
            fields[field.name] = inner if field.required else st.one_of(st.just(field.default), inner)
    return st.builds(kind, **fields)


def _of_kind(kind: Any) -> st.SearchStrategy[Any]:
    match kind:
        case FormulaKind(states=False):
            return st.one_of(VALUES, TIMELY)
        case FormulaKind():
            return st.one_of(VALUES, STATEFUL, st.just("length - rate"))
        case FormulaVectorKind():
            return st.tuples(*[st.one_of(VALUES, STATEFUL)] * 3)
        case ScalarKind(optional=True):
            return st.one_of(st.none(), VALUES)
        case ScalarKind():
            return VALUES
        case VectorKind(sizes=()):
            return st.just(())
        case VectorKind(sizes=sizes):
            return st.sampled_from(sizes).flatmap(lambda n: st.tuples(*[VALUES] * n))
        case ChoiceKind(options=options):
            return st.sampled_from(options)
        case TextKind():
            return TEXTS
        case FlagKind():
            return st.booleans()
        case ColorKind():
            return st.one_of(st.none(), st.tuples(*[st.floats(0, 1)] * 4))
        case NestedElementKind(element=element):
            return POSES if element is Pose else values_of(element)
        case NestedElementsKind(element=element) if element is LineMass:
            return st.lists(values_of(LineMass), max_size=2).map(tuple)
        case NestedElementsKind(element=element) if element is Setting:
            return st.lists(values_of(Setting), max_size=3, unique_by=lambda setting: setting.parameter).map(tuple)
        case NestedElementsKind():
            return st.lists(SHAPES, max_size=2).map(tuple)
    raise AssertionError(kind)


SHAPES = st.one_of([values_of(kind, material=st.sampled_from(("", "blue"))) for kind in SHAPE_TYPES.values()])
_AXES = st.sampled_from(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.6, -0.8, 1e-30), ("l1", 0.0, 1.0)))


def _joint(name: str, parent: str, child: str) -> st.SearchStrategy[Joint]:
    return values_of(
        Joint,
        name=st.just(name),
        parent=st.just(parent),
        child=st.just(child),
        axis=_AXES,
        limits=st.one_of(st.just(()), st.tuples(values_of(Limit))),
        mimic=st.none(),
        given_in=st.just("frames"),
        **RUBBING,
        kind=st.sampled_from(
            ("revolute", "continuous", "prismatic", "screw", "cylindrical", "planar", "spherical", "free")
        ),
    )


_ARM_Q = st.just(Joint(name="arm_q", parent="no", child="b-2"))


def _rows(count: int) -> st.SearchStrategy[tuple[DHRow, ...]]:
    row = values_of(DHRow, limit=st.one_of(st.none(), values_of(Limit)), variable=st.sampled_from(("", "theta")))
    return st.lists(row, max_size=count).map(tuple)


CHAINS = values_of(
    DHChain, name=st.just("arm"), rows=_rows(3), parent=st.just("b-2"), prefix=st.sampled_from(("", "p_"))
)
POINTS = st.sampled_from(("", "no", "tip", "world", "knot"))
SENSORS = st.tuples(
    values_of(Sensor, name=st.just("reach"), kind=st.just("distance"), b=st.just("tip"), axis=_AXES, axis_b=_AXES),
    values_of(
        Sensor,
        name=st.just("spot"),
        kind=st.just("position"),
        b=st.just("no"),
        axis=_AXES,
        axis_b=_AXES,
        resolve=st.sampled_from(("", "tip")),
    ),
    values_of(
        Sensor,
        name=st.just("s3"),
        kind=st.sampled_from(("cut_force", "power")),
        joint=st.just("arm_q"),
        axis=_AXES,
        axis_b=_AXES,
        minus=st.sampled_from(("", "spot")),
    ),
)
STRANDS = st.lists(
    st.one_of(
        st.builds(Strand, joint=st.just("arm_q"), factor=VALUES),
        st.builds(Strand, sensor=st.just("reach"), factor=VALUES),
    ),
    min_size=1,
    max_size=2,
).map(tuple)
_ENDS = {
    "a": POINTS,
    "b": st.just("b-2"),
    "sensor": st.just("reach"),
    "joint": st.just("arm_q"),
    "leader": st.just("a:b"),
    "strands": STRANDS,
}
FORCES = st.lists(
    values_of(Force, name=st.just("f"), resolve=st.sampled_from(("", "no")), **RUBBING, **_ENDS), max_size=1
).map(tuple)
CONSTRAINTS = st.tuples(
    values_of(
        Constraint,
        name=st.just("c/1"),
        kind=st.sampled_from(tuple(CONSTRAINT_KINDS)),
        axis=_AXES,
        length=st.one_of(st.floats(1e-9, 1e9), FORMULAS),
        sensor=st.just("spot"),
        joint=st.just("arm_q"),
        leader=st.just("a:b"),
        a=st.sampled_from(("", "tip")),
        b=st.just("b-2"),
    ),
)
_PLAIN = {"motion": st.sampled_from(MOTIONS), "description": TEXTS, "coordinate": st.sampled_from(("", "x"))}


def _table_driver(times: list[int]) -> st.SearchStrategy[Driver]:
    values = st.tuples(*[VALUES] * len(times))
    return st.builds(Driver, name=st.just("d2"), sensor=st.just("reach"), times=st.just(tuple(times)), values=values)


_TABLE = st.lists(st.integers(-1000, 1000), min_size=1, max_size=4, unique=True).map(sorted)
DRIVERS = st.tuples(
    st.builds(Driver, name=st.just("d1"), joint=st.just("arm_q"), function=st.one_of(NUMBERS, TIMELY), **_PLAIN),
    _TABLE.flatmap(_table_driver),
    st.builds(Driver, name=st.just("d3"), joint=st.just("a:b"), column=TEXTS, file=TEXTS.filter(bool)),
)
_QUANTITIES = st.one_of(TEXTS.filter(str.strip), st.sampled_from(("a:b.q", "arm_q.tau", "max(abs(reach.rate))", "1")))
_TRIM_ROWS = st.builds(
    TrimRow,
    quantity=_QUANTITIES,
    role=st.sampled_from(("fixed", "free", "target", "steady")),
    value=VALUES,
    minimum=st.one_of(st.none(), FORMULAS),
    maximum=st.one_of(st.none(), VALUES),
    weight=st.one_of(FORMULAS, st.floats(1e-9, 1e9)),
)
TRIMS = st.builds(
    Trim,
    name=st.just("hover"),
    rows=st.lists(_TRIM_ROWS, max_size=3, unique_by=lambda row: row.quantity).map(tuple),
    description=TEXTS,
)
_VARIED = st.builds(VariedRow, quantity=_QUANTITIES, values=TEXTS.filter(str.strip))
_RECORDED = st.builds(
    RecordRow, column=st.sampled_from(("worst", "tip.x")), formula=_QUANTITIES, every=st.one_of(st.none(), VALUES)
)
PLANS = st.builds(
    StudyPlan,
    name=st.just("tolerance"),
    kind=st.sampled_from(("runs", "poses", "targets", "linear systems")),
    varied=st.lists(_VARIED, max_size=2, unique_by=lambda row: row.quantity).map(tuple),
    record=st.lists(_RECORDED, max_size=2, unique_by=lambda row: row.column).map(tuple),
    count=FORMULAS,
    how=st.sampled_from(("random", "latin", "sobol")),
    seed=VALUES,
    frame=st.sampled_from(("", "tip")),
    duration=VALUES,
    method=st.sampled_from(("auto", "rk4")),
    step=st.one_of(st.none(), VALUES),
    limit=VALUES,
    description=TEXTS,
)
_VARIED_ROWS = st.one_of(
    st.builds(DesignVariable, parameter=_QUANTITIES),
    st.builds(DesignVariable, parameter=_QUANTITIES, minimum=FORMULAS, maximum=FORMULAS),
)
AIMS = st.builds(
    Aim,
    name=st.just("light"),
    kind=st.sampled_from(("parameters", "curve")),
    vary=st.lists(_VARIED_ROWS, max_size=2, unique_by=lambda row: row.parameter).map(tuple),
    minimise=st.one_of(st.just(""), _QUANTITIES),
    require=st.lists(st.builds(RequiredRow, formula=_QUANTITIES), max_size=2).map(tuple),
    over=st.sampled_from(("rest", "sweep", "run")),
    curve=st.lists(st.builds(CurveRow, x=VALUES.filter(lambda x: x is not None), z=FORMULAS), max_size=3).map(tuple),
    closed=st.booleans(),
    timed=st.booleans(),
    description=TEXTS,
)
MODELS: st.SearchStrategy[Model] = st.builds(
    Model,
    name=TEXTS,
    description=TEXTS,
    world=st.builds(World, gravity=values_of(Gravity)),
    parameters=st.tuples(
        *[
            st.builds(
                Parameter,
                name=st.just(n),
                value=NUMBERS,
                minimum=st.one_of(st.none(), VALUES),
                assumed=st.booleans(),
                description=TEXTS,
            )
            for n in PARAMETERS
        ]
    ),
    materials=st.tuples(values_of(Material, name=st.just("blue"))),
    bodies=st.tuples(*[values_of(Body, name=st.just(n)) for n in ("no", "arm/upper", "b-2")]),
    frames=st.tuples(values_of(Frame, name=st.just("tip"), parent=st.sampled_from(("no", "world")))),
    joints=st.tuples(_joint("a:b", "world", "no"), _joint("j|2", "tip", "arm/upper"), _ARM_Q),
    junctions=st.tuples(values_of(Junction, name=st.just("knot"))),
    sensors=SENSORS,
    forces=FORCES,
    constraints=CONSTRAINTS,
    drivers=DRIVERS,
    chains=st.one_of(st.just(()), st.tuples(CHAINS)),
    operating_points=st.lists(TRIMS, max_size=1).map(tuple),
    studies=st.lists(PLANS, max_size=1).map(tuple),
    designs=st.lists(AIMS, max_size=1).map(tuple),
    annotations=st.lists(st.builds(Annotation, where=TEXTS, content=TEXTS), max_size=2).map(tuple),
)
