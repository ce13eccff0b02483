"""The panel Design searches in a process: that it dies is said, and the window lives on."""

import os
import signal
import sys

import pytest

from app.document.session import Session
from app.panels.design.panel import DesignPanel
from core.files import load
from resources import EXAMPLES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals")


@pytest.fixture
def panel(qtbot, jobs):
    made = DesignPanel(Session(load(EXAMPLES / "four_bar.kst")), jobs)
    qtbot.addWidget(made)
    made.resize(1100, 320)
    page = made.machine_page
    page.vary.check_rows("a", "b", "c", "d")
    page.minimise.setText("rms(coupler_point.position.z - 0.35)")
    page.along.setCurrentIndex(page.along.findData("crank_pin"))
    yield made
    made.close()


def crash(panel, qtbot):
    """As a library would."""
    seen = len(panel.chart.values)
    qtbot.waitUntil(lambda: len(panel.chart.values) > seen)
    os.kill(panel.process.process_id, signal.SIGSEGV)


def test_a_crash_is_a_row_and_said_and_the_search_goes_on(panel, qtbot):
    panel.show()
    panel.machine_page.starts.setText("12")
    panel.start_search()
    crash(panel, qtbot)
    qtbot.waitUntil(panel.search_button.isEnabled)
    assert len(panel.found.table) == 12
    (lost,) = (row for row in panel.found.table if "signal 11" in row.message)
    words = f"Start {lost.number + 1}: The solver ended unexpectedly (signal 11)."
    assert words in panel.note.text()
    at = panel.found.table.index(lost)
    assert panel.results.item(at, panel.results.columnCount() - 1).text() == lost.message


def test_a_crash_while_it_searches_is_said_at_once(panel, qtbot):
    panel.show()
    panel.machine_page.starts.setText("1000")
    said = []
    panel.note.show_text = lambda text, *_: said.append(text)
    panel.start_search()
    crash(panel, qtbot)
    qtbot.waitUntil(lambda: any("signal 11" in words and "other starts continue" in words for words in said))
    panel.stop_button.click()
    qtbot.waitUntil(panel.search_button.isEnabled, timeout=20000)
    assert panel.found is not None


def test_the_process_is_ready_ahead_kept_and_ends_with_the_window(panel, qtbot, jobs):
    assert panel.process.process_id is None
    panel.show()
    qtbot.waitUntil(lambda: panel.process.process_id is not None)
    number = panel.process.process_id
    panel.machine_page.starts.setText("1")
    panel.start_search()
    qtbot.waitUntil(panel.search_button.isEnabled)
    assert panel.process.process_id == number
    panel.close()
    jobs.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_closing_in_the_middle_of_a_search_ends_it(panel, qtbot, jobs):
    panel.machine_page.starts.setText("1000")
    panel.start_search()
    qtbot.waitUntil(lambda: bool(panel.chart.values))
    panel.close()
    qtbot.waitUntil(lambda: not jobs.unfinished_jobs and not panel.process.is_busy, timeout=20000)
