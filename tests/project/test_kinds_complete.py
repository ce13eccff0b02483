"""A family of kinds takes in only what is whole, and never answers with another kind than the one that is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import pytest

from core.errors import ModelError
from core.kinds import Kinds


class Wheel(ABC):
    name: ClassVar[str]
    title: ClassVar[str]
    spare: ClassVar[bool] = False

    @abstractmethod
    def turns(self) -> float: ...


class Castor(Wheel):
    name, title = "castor", "Castor"

    def turns(self) -> float:
        return 2.0


def test_a_whole_kind_is_found_by_its_name() -> None:
    wheels = Kinds("wheel", Wheel, Castor)
    assert wheels["castor"]().turns() == 2.0
    assert list(wheels) == ["castor"]
    assert "tyre" not in wheels
    assert wheels.get("tyre") is None


def test_a_kind_that_lacks_a_member_is_refused_with_its_name() -> None:
    class Untitled(Castor):
        name = "untitled"

    class Silent(Wheel):
        name = "silent"

    Kinds("wheel", Wheel, Untitled)
    with pytest.raises(TypeError, match="Silent lacks title, turns"):
        Kinds("wheel", Wheel, Silent)


def test_two_kinds_of_one_name_are_refused() -> None:
    class Other(Castor):
        pass

    with pytest.raises(TypeError, match="two kinds of wheel called 'castor'"):
        Kinds("wheel", Wheel, Castor, Other)


def test_what_is_no_kind_of_the_family_is_refused() -> None:
    with pytest.raises(TypeError, match="derive from Wheel"):
        Kinds("wheel", Wheel, int)  # type: ignore[arg-type]


def test_an_unknown_kind_is_named_with_what_it_might_mean() -> None:
    with pytest.raises(ModelError, match=r"no kind of wheel called 'caster'.*castor"):
        Kinds("wheel", Wheel, Castor)["caster"]
