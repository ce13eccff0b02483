"""Dataclasses whose methods are made when they are looked up are those of the library."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, field

import pytest

from core import later

OPTIONS = (
    {},
    {"frozen": True},
    {"frozen": True, "kw_only": True},
    {"frozen": True, "eq": False},
    {"eq": False},
    {"frozen": True, "slots": True},
    {"slots": True},
)


def family(decorator, **options):
    """A base and a class of it with all kinds of fields."""

    @decorator(**options)
    class Base:
        """Of both."""

        a: int = 1
        b: list = field(default_factory=list, compare=False)

    @decorator(**options)
    class Derived(Base):
        """With more."""

        c: float = field(default=2.5, repr=False)
        d: tuple = field(default=(), hash=False, kw_only=True)
        e: str = field(default="made", init=False)
        f: object = None

        def __post_init__(self):
            if self.a < 0:
                raise ValueError("a")

    return Base, Derived


def outcome(act):
    """What comes of something, also if it is an error."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("which", [0, 1])
def test_all_is_as_the_library_makes_it(options, which):
    ours, theirs = family(later.dataclass, **options)[which], family(dataclasses.dataclass, **options)[which]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]

    def done(cls):
        one, same, other = cls(a=3), cls(a=3), cls(a=4)
        same.b.append(1)
        return (
            repr(one),
            one == same,
            one != other,
            one == 3,
            outcome(lambda: hash(one) == hash(same)),
            outcome(lambda: hash(one)) if cls.__eq__ is not object.__eq__ else None,
            outcome(lambda: setattr(one, "a", 5)),
            outcome(lambda: delattr(other, "a")),
            outcome(lambda: setattr(one, "unknown", 5)),
            outcome(lambda: cls(1, [], 2, 3, 4, 5)),
            outcome(lambda: cls(a=-1).a),
            repr(dataclasses.replace(same, a=7)),
            dataclasses.astuple(one),
            repr(copy.deepcopy(same)),
            cls(a=0).b is not cls(a=0).b,
        )

    assert done(ours) == done(theirs)


@later.dataclass(frozen=True)
class Kept:
    """Goes into a file."""

    x: float
    inner: object = None


def test_they_are_kept_and_shown_as_parts_of_each_other():
    value = Kept(1.0, Kept(2.0))
    assert pickle.loads(pickle.dumps(value)) == value
    assert repr(value) == "Kept(x=1.0, inner=Kept(x=2.0, inner=None))"
    assert len({value, Kept(1.0, Kept(2.0)), Kept(1.0)}) == 2
    match value:
        case Kept(x, Kept()):
            assert x == 1.0


def test_one_kind_derives_from_the_other():
    @dataclasses.dataclass(frozen=True)
    class Theirs(Kept):
        y: float = 0.0

    @later.dataclass(frozen=True)
    class Ours(Theirs):
        z: float = 3.0

    value = Ours(1.0, y=2.0)
    assert (value.x, value.y, value.z) == (1.0, 2.0, 3.0)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        value.x = 2.0
    with pytest.raises(TypeError, match="frozen"):

        @later.dataclass
        class Loose(Kept):
            y: float = 0.0


def test_methods_that_a_class_has_are_its_own():
    @later.dataclass(frozen=True)
    class Same:
        x: float

        def __eq__(self, other):
            return True

        def __repr__(self):
            return "same"

        def __hash__(self):
            return 7

    assert Same(1.0) == Same(2.0)
    assert repr(Same(1.0)) == "same"
    assert hash(Same(1.0)) == 7


def test_nothing_is_made_before_somebody_needs_it():
    asked = "from core.model import Pose; kept = vars(Pose)['__repr__']; print(type(kept).__name__, Pose())"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("_DeferredMethod Pose(")


def test_frozen_and_other_classes_do_not_mix_as_in_the_library():
    frozen, loose = later.dataclass(frozen=True), later.dataclass()
    kinds = {"frozen": frozen(type("Frozen", (), {})), "loose": loose(type("Loose", (), {}))}
    for decorator, base, words in (
        (frozen, "loose", "cannot inherit frozen dataclass from a non-frozen one"),
        (loose, "frozen", "cannot inherit non-frozen dataclass from a frozen one"),
    ):
        with pytest.raises(TypeError, match=words):
            decorator(type("Derived", (kinds[base],), {}))
    between = type("Between", (kinds["frozen"],), {})  # no dataclass itself
    assert frozen(type("Derived", (between,), {"__annotations__": {"x": int}}))(3).x == 3
    assert kinds["frozen"].__dataclass_params__.frozen
