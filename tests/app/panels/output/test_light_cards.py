"""A card reads what draws charts only when there is a chart."""

import subprocess
import sys

CARDS = """
import sys
from app.window.start import create_application
create_application(["test"])
import app.panels.output.card
from app.panels.output.parts import create_part
from core.functions.diagrams import Diagram, Series
from core.functions.results import Message
create_part(Message(text="Nothing moves."), None)
print("pyqtgraph" in sys.modules)
part = create_part(Diagram(title="Poles", across="Re", up="Im", series=(Series("poles", (1.0,), (2.0,), "x"),)), None)
print(type(part).__name__, "pyqtgraph" in sys.modules)
"""

BESIDE = """
import sys
from app.panels.functions.panel import build_function_work
from core.apart.work_process import WorkProcess
from core.files import load
from core.functions import Context
from resources import EXAMPLES
process = WorkProcess()
class Progress:
    show = print
    def __call__(self, *_):
        pass
for function in ("jacobian", "linear_system"):
    build_function_work(function, Context.of(load(EXAMPLES / "puma560.kst")), {}, process)(Progress(), lambda: False)
    print("app.panels.output.diagram_part" in sys.modules)
process.close()
"""


def test_a_job_with_a_chart_reads_what_draws_it():
    done = subprocess.run([sys.executable, "-c", BESIDE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_cards_of_numbers_and_words_load_no_charts():
    done = subprocess.run([sys.executable, "-c", CARDS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "DiagramPart", "True"]
