"""Entries that several threads ask for at once."""

import threading

from core.machine_code import supply
from core.machine_code.entry import Entry

PLACE = 4096
PATIENCE = 30.0


def give(number: int) -> int:
    """Stand in for a function in machine code."""
    return number


class SlowLibrary:
    """Code whose address is known only after another thread has asked for it, too."""

    def __init__(self):
        self.asked, self.may_tell = threading.Event(), threading.Event()

    def address(self, name):
        self.asked.set()
        self.may_tell.wait(PATIENCE)
        return PLACE


def test_no_thread_gets_an_address_before_the_code_is_loaded(monkeypatch):
    """A window that computed a run and a preview of it at once called address 0, and died."""
    library, got = SlowLibrary(), []
    monkeypatch.setattr(supply, "load_code", lambda name: supply.LoadedCode(library, is_final=True))
    entry = Entry(give)
    first = threading.Thread(target=lambda: got.append(entry.address))
    first.start()
    assert library.asked.wait(PATIENCE)
    second = threading.Thread(target=lambda: got.append(entry.address))
    second.start()
    second.join(0.2)  # without the mend it has ended, with 0
    library.may_tell.set()
    for thread in (first, second):
        thread.join(PATIENCE)
    assert got == [PLACE, PLACE]
    assert entry.call is not None
