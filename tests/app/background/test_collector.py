"""Cyclic garbage with Qt objects is collected in the window's thread, whatever other threads allocate."""

import gc
import threading
import weakref

from PySide6.QtCore import QObject

from app.window.start import GarbageCollector


class Knot(QObject):
    """A Qt object in a cycle; notes the thread in which it goes."""

    def __init__(self, ends):
        super().__init__()
        self.me = self
        weakref.finalize(self, lambda: ends.append(threading.get_ident()))


def test_cycles_end_in_the_windows_thread(qtbot):
    collector = GarbageCollector()
    assert not gc.isenabled()
    ends = []
    for _ in range(50):
        Knot(ends)
    other = threading.Thread(target=lambda: [[[]] for _ in range(200_000)])
    other.start()
    other.join()
    assert ends == [], "nothing is collected in another thread"
    kept = []

    def collected():
        kept.extend([] for _ in range(2 * gc.get_threshold()[0]))  # enough is made for a collection to be due
        return len(ends) == 50

    qtbot.waitUntil(collected)
    assert set(ends) == {threading.get_ident()}
    collector.close()
