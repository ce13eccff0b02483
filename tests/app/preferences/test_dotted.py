"""Dots of q̇ and q̈ in the words of the window stay within their line."""

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel

from app.preferences.theme import dot_rise, with_visible_dots


def rows_of_ink(label):
    """Pixel rows that hold ink."""
    picture = label.grab().toImage()
    paper = picture.pixel(0, 0)
    return {y for y in range(picture.height()) for x in range(picture.width()) if picture.pixel(x, y) != paper}


def test_a_label_shows_the_dots_of_speeds(bench):
    for letter, marked in (("q", "q\u0307"), ("q", "q\u0308"), ("ω", "ω\u0307")):
        labels = [QLabel(text) for text in (letter, marked)]
        for label in labels:
            label.ensurePolished()
            label.resize(60, label.fontMetrics().height())
        bare, dots = map(rows_of_ink, labels)
        assert min(dots) < min(bare)  # they are seen, above the letter


def test_a_font_whose_dots_stand_right_is_left_alone(bench):
    for family in ("DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"):
        font = QFont(family)
        made = with_visible_dots(font)
        assert dot_rise(made) == 0.0
        assert (made == font) == (dot_rise(font) == 0.0)
