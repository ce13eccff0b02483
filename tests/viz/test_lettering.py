"""Letters of the scene are letters: VTK would typeset what stands between dollar signs."""

import pytest
from vtkmodules import vtkRenderingFreeType  # noqa: F401  (brings the renderer of texts)
from vtkmodules.vtkRenderingCore import vtkTextRenderer

from viz.scene.labels import escape_label


@pytest.mark.parametrize("text", ["$x^2$", "Run $\\alpha$ of $y$", "costs $5 or $6"])
def test_no_text_is_taken_for_a_formula(text):
    renderer = vtkTextRenderer.GetInstance()
    assert renderer.DetectBackend(text) == vtkTextRenderer.MathText
    assert renderer.DetectBackend(escape_label(text)) == vtkTextRenderer.FreeType


def test_what_is_unseen_is_written():
    assert escape_label("a\u202eb") == "a\\u202eb"
