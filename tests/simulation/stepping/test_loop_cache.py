"""Machine code of the integrators that is kept on disk: damage never stops a run, and is mended without a word."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.codegen import object_cache
from core.numerics import tolerances
from core.simulation.equations import constrained, jacobian
from core.simulation.methods import radau
from core.simulation.stepping import loop_cache
from core.simulation.stepping.compilation import native


def solved() -> None:
    """X ← L⁻¹ X by a function whose code is read from the cache, or made; the diagonal of L holds reciprocals."""
    forward_rows = native(jacobian.forward_rows.py_func)
    X = np.array([2.0, 7.0])
    forward_rows(np.array([0.5, 0.0, 3.0, 0.25]), X, 2, 1)
    np.testing.assert_allclose(X, [1.0, 1.0])  # 2 x = 2, 3 x + 4 y = 7


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_damaged_code_is_made_anew(tmp_path, monkeypatch, share):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "code"))
    solved()
    files = [path for path in (tmp_path / "code").rglob("*") if path.is_file()]
    whole = {path: path.read_bytes() for path in files}
    assert whole
    for path, data in whole.items():
        path.write_bytes(data[: int(len(data) * share)] if share < 1.0 else bytes([data[0] ^ 255]) + data[1:])
    solved()
    solved()


def test_code_depends_on_the_text_of_shared_tolerances():
    assert Path(tolerances.__file__) in loop_cache._imported(Path(constrained.__file__))


def test_who_waits_for_a_compiler_is_told_before_with_what_and_how_long(monkeypatch):
    said = []
    monkeypatch.setattr(object_cache, "load", lambda key: None)
    monkeypatch.setattr(loop_cache, "index_of", lambda *_: ("no version",))
    target = SimpleNamespace(refresh=lambda: None, codegen=lambda: None)
    kept = loop_cache.KeptLoops(radau.step_entry)
    with loop_cache.telling(said.append):
        for _ in range(2):
            assert kept.load_overload(None, target) is None
    kept.load_overload(None, target)
    assert said == ["Compiling the implicit integrators: once on this computer, about 20 s …"]
