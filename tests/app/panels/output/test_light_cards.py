"""A card reads what draws charts only when there is a chart."""

import subprocess
import sys

CARDS = """
import sys
from app.window.start import application
application(["test"])
import app.panels.output.card
from app.panels.output.cards import part_of
from core.functions.diagrams import Diagram, Series
from core.functions.results import Message
part_of(Message(text="Nothing moves."), None)
print("pyqtgraph" in sys.modules)
part = part_of(Diagram(title="Poles", across="Re", up="Im", series=(Series("poles", (1.0,), (2.0,), "x"),)), None)
print(type(part).__name__, "pyqtgraph" in sys.modules)
"""


def test_cards_of_numbers_and_words_load_no_charts():
    done = subprocess.run([sys.executable, "-c", CARDS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "DiagramPart", "True"]
