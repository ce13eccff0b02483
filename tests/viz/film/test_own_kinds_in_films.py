"""A film of a machine with a kind of somebody's own is drawn by another process, which imports the kind's module."""

from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core import kinds
from core.joints import JOINT_KINDS
from tests.joints.made_up_kinds import PinInSlot
from viz.film.film import Footage, film_in_subprocess


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})


def footage(kind: str) -> Footage:
    box = ks.Box(size=(0.2, 0.1, 0.1))
    joint = ks.Joint(name="j", kind=kind, parent="world", child="b")
    model = ks.Model(bodies=(ks.Body(name="b", mass=1.0, shapes=(box,)),), joints=(joint,))
    mech = ks.Mechanism(model)
    q = np.array([[0.1 * k, 0.05 * k] for k in range(3)])
    return Footage(model, {}, np.linspace(0.0, 0.2, 3), mech.frame_names, np.asarray(mech.poses(q)))


def test_the_other_process_has_the_kind(tmp_path: Path) -> None:
    ks.register(PinInSlot)
    assert film_in_subprocess(footage("pin_in_slot"), tmp_path / "film.mp4", size=(160, 120)) == 3
    assert (tmp_path / "film.mp4").stat().st_size > 1000


def test_a_kind_of_the_console_is_refused_with_the_remedy(tmp_path: Path) -> None:
    class Typed(PinInSlot):
        name = "typed"

    Typed.__module__ = "__console__"
    ks.register(Typed)
    with pytest.raises(ks.KinetostatError, match=r"'typed' was defined in the console.*into a separate module"):
        film_in_subprocess(footage("typed"), tmp_path / "film.mp4", size=(160, 120))
    assert not list(tmp_path.iterdir())
