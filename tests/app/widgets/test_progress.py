"""A bar of progress is drawn with the next picture, not at once for every value."""

from PySide6.QtCore import QEvent, QObject

from app.widgets.panel_parts import PROGRESS_PLACES, ProgressBar
from tests.app.conftest import pump, settle


class Paintings(QObject):
    """Counts them."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() == QEvent.Type.Paint
        return False


def test_many_values_are_one_picture(bench):
    bar, paintings = ProgressBar(bench.window, maximum=1000), Paintings()
    bar.resize(200, 20)
    bar.show()
    settle()
    bar.installEventFilter(paintings)
    for value in range(0, 1000, 50):
        bar.setValue(value)
    assert paintings.count == 0
    assert pump(lambda: paintings.count > 0, 2.0)
    assert paintings.count == 1
    assert bar.value() == 950
    bar.hide()
    bar.deleteLater()


def test_what_looks_the_same_is_not_drawn_again_but_both_ends_are_told(bench):
    bar, paintings = ProgressBar(bench.window, maximum=100_000, textVisible=False), Paintings()
    bar.resize(200, 20)
    bar.show()
    bar.setValue(50_000)
    settle()
    bar.installEventFilter(paintings)
    for value in range(50_000, 50_500, 10):  # less than a pixel
        bar.setValue(value)
    settle()
    assert paintings.count == 0
    bar.setValue(51_000)
    assert pump(lambda: paintings.count > 0, 2.0)
    bar.setValue(99_999)
    bar.setValue(100_000)
    assert bar.value() == 100_000
    bar.setValue(0)
    assert bar.value() == 0
    bar.hide()
    bar.deleteLater()


def test_words_in_the_bar_of_a_function_are_whole_or_left_out(bench):
    bench.example("two_link")
    bench.window.panels.open_function("derive")
    form = bench.window.functions.form
    form.show_busy(True)
    for words in ("M", "Christoffel symbols of the whole arm, one after another"):
        form.show_progress(0.5, words, 30.0)
        bar = form.progress
        assert bar.fontMetrics().horizontalAdvance(bar.text()) < bar.width()
        assert "50" in bar.text()
        assert words in bar.toolTip()
    form.show_busy(False)


def test_a_bar_without_a_measure_is_drawn_in_beats(bench):
    """Qt's would be drawn sixty times a second, and the whole window with it."""
    bar, paintings = ProgressBar(bench.window), Paintings()
    bar.resize(200, 8)
    bar.setRange(0, 0)
    bar.show()
    settle()
    bar.installEventFilter(paintings)
    places = [bar.place]
    bar._beat.timeout.connect(lambda: places.append(bar.place))
    assert pump(lambda: len(places) == 2 * PROGRESS_PLACES, 20.0)
    assert paintings.count <= len(places)
    assert places[:4] == [places[0] + k for k in range(4)]
    picture = bar.grab().toImage()
    block = picture.pixelColor(bar._block_rectangle().center())
    assert block == bar.palette().highlight().color()
    bar.setRange(0, 100)
    assert not bar._beat.isActive()
    bar.setRange(0, 0)
    assert bar._beat.isActive()
    bar.hide()
    assert not bar._beat.isActive()
    bar.deleteLater()
