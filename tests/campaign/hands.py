"""Random hands on the window: commands, clicks, drags, keys, texts, files; questions are answered at random."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QColor, QDesktopServices, QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QColorDialog,
    QComboBox,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QTabBar,
    QWidget,
)

from app.commands import command_table
from app.document.session import ElementRef
from core.model import COLLECTIONS
from resources import examples
from tests.app.conftest import Bench, pump
from tests.campaign.formula_makers import formula
from tests.campaign.mutations import NAMES, NUMBERS


def pause(seconds):
    """The hands rest, the window goes on."""
    pump(lambda: False, seconds)


WAITING = 80
"""ms after which an action waits for an answer"""
LEFT_OUT = {"file.quit", "view.full_screen"}
"""Commands that end the campaign, or only hinder it."""
KEYS = (
    Qt.Key.Key_Escape,
    Qt.Key.Key_Return,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Delete,
    Qt.Key.Key_F2,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_Home,
    Qt.Key.Key_Space,
    Qt.Key.Key_A,
    Qt.Key.Key_1,
    Qt.Key.Key_Minus,
    Qt.Key.Key_F1,
    Qt.Key.Key_Menu,
)
RELATIVE_MEASURES = (Qt.Key.Key_Z, Qt.Key.Key_Y, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_S)
"""Keys that are pressed with Ctrl."""
MODIFIERS = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
BUTTONS = (Qt.MouseButton.LeftButton,) * 4 + (Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton)
SMALL = (
    "pendulum",
    "double_pendulum",
    "four_bar",
    "slider_crank",
    "scara",
    "two_link",
    "joint_kinds",
    "three_springs",
    "forces",
    "stewart",
    "puma560",
    "damped_pendulum",
)
"""Examples that open in no time."""


class Hands:
    """Acts on a window; the random numbers are those of a trial."""

    def __init__(self, bench: Bench, luck: random.Random, folder: Path) -> None:
        self.bench, self.window, self.luck, self.folder = bench, bench.window, luck, folder
        self.log: list[str] = []
        """What was done, for whoever mends what came of it."""
        (folder / "files").mkdir(exist_ok=True)

    def act(self) -> None:
        """One random action."""
        waiting = QTimer(interval=WAITING)
        waiting.timeout.connect(self.leave)
        waiting.start()
        dialog = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if dialog is not None and self.luck.random() < 0.8:
            self.answer(dialog)
        else:
            verbs = list(ACTIONS)
            self.luck.choices(verbs, [ACTIONS[verb] for verb in verbs])[0](self)
        waiting.stop()
        pause(self.luck.choice((0.002, 0.005, 0.01, 0.06)))

    def leave(self) -> None:
        """A menu or a question in whose own loop the action waits is answered."""
        question = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if isinstance(question, QDialog) and self.luck.random() < 0.3:
            question.reject()
        elif question is not None:
            self.answer(question)

    def note(self, words: str) -> None:
        self.log.append(words)
        (self.folder / "actions.txt").write_text("\n".join(self.log), encoding="utf-8", errors="replace")

    # ----------------------------------------------------------------------------- commands and files

    def command(self) -> None:
        """Any command that applies."""
        known = [
            each for each in command_table().values() if each.id not in LEFT_OUT and each.is_available(self.window)
        ]
        chosen = self.luck.choice(known)
        self.note(f"command {chosen.id}")
        self.window.run_command(chosen.id)

    def add(self) -> None:
        """A new element."""
        known = [
            each for each in command_table().values() if each.id.startswith("add.") and each.is_available(self.window)
        ]
        chosen = self.luck.choice(known)
        self.note(f"command {chosen.id}")
        self.window.run_command(chosen.id)

    def back_and_forth(self) -> None:
        """Undo or redo, a few times."""
        verb = self.luck.choice(("edit.undo", "edit.undo", "edit.redo"))
        count = self.luck.randint(1, 4)
        self.note(f"{verb} × {count}")
        for _ in range(count):
            self.window.run_command(verb)

    def files(self) -> None:
        """New, open, save."""
        match self.luck.randrange(4):
            case 0:
                path = self.luck.choice([each.path for each in examples() if each.name in SMALL])
                self.note(f"open {path.name}")
                self.window.files.open(path)
                pump(lambda: not self.window.files.opening.is_busy, 20.0)
            case 1:
                path = self.folder / "files" / "own.kst"
                name = self.luck.choice(SMALL[:4])
                shutil.copy(next(each.path for each in examples() if each.name == name), path)
                self.note(f"open a copy {path.name}")
                self.window.files.open(path)
                pump(lambda: not self.window.files.opening.is_busy, 20.0)
            case _:
                verb = self.luck.choice(("file.save", "file.save_as", "file.new", "file.reload", "runs.save"))
                self.note(f"command {verb}")
                self.window.run_command(verb)

    def simulate(self) -> None:
        """A short simulation, left alone, stopped, or looked at."""
        self.window.simulation.change_settings(duration=self.luck.choice((0.05, 0.3, 1.0)))
        verb = self.luck.choice(
            (
                "simulation.run",
                "simulation.run",
                "simulation.stop",
                "play.toggle",
                "play.last",
                "simulation.branch",
                "play.use_pose",
                "simulation.interactive",
                "simulation.what_if",
            )
        )
        self.note(f"command {verb}")
        self.window.run_command(verb)
        pause(self.luck.choice((0.0, 0.05, 0.3)))

    # ----------------------------------------------------------------------------- elements

    def some(self) -> ElementRef | None:
        """Any element."""
        model = self.window.session.model
        found = [ElementRef(each, element.name) for each in COLLECTIONS for element in getattr(model, each)]
        return self.luck.choice(found) if found else None

    def select(self) -> None:
        """An element, or nothing."""
        ref = self.some() if self.luck.random() < 0.9 else None
        self.note(f"select {ref}")
        self.window.session.select(ref)

    def delete(self) -> None:
        """An element goes, or is doubled."""
        self.select()
        verb = self.luck.choice(("element.delete", "element.duplicate", "view.trace_point"))
        self.note(f"command {verb}")
        self.window.run_command(verb)

    def rename(self) -> None:
        """Another name, typed in the tree."""
        self.select()
        self.note("command element.rename")
        self.window.run_command("element.rename")
        pause(0.01)
        focus = QApplication.focusWidget()
        if isinstance(focus, QLineEdit):
            self.type_into(focus)

    def edit(self) -> None:
        """A field of the selected element."""
        if self.window.session.selection is None or self.luck.random() < 0.4:
            self.select()
            pause(0.02)
        self.use(self.window.properties)

    def anything(self) -> None:
        """Any part of the window, of a panel that is brought to the front before."""
        panel = self.luck.choice(list(self.window.docks.panels))
        self.note(f"panel {panel}")
        self.window.docks.show_panel(panel)
        pause(0.01)
        self.use(self.window.docks.panels[panel])

    # ----------------------------------------------------------------------------- parts of the window

    def use(self, place: QWidget) -> None:
        """One of the parts of a place that a hand can reach."""
        kinds = (
            QLineEdit,
            QPlainTextEdit,
            QAbstractButton,
            QComboBox,
            QAbstractSlider,
            QTabBar,
            QAbstractItemView,
            QAbstractSpinBox,
        )
        found = [each for kind in kinds for each in place.findChildren(kind) if each.isVisible() and each.isEnabled()]
        if found:
            self.handle(self.luck.choice(found))

    def handle(self, part: QWidget) -> None:
        """What one does with such a part."""
        self.note(
            f"{type(part).__name__} {part.objectName()} {part.accessibleName()} {getattr(part, 'text', str)()!r:.60}"
        )
        match part:
            case QLineEdit() | QPlainTextEdit() | QAbstractSpinBox():
                self.type_into(part)
            case QComboBox():
                part.setFocus()
                if part.count():
                    part.setCurrentIndex(self.luck.randrange(part.count()))
                    part.activated.emit(part.currentIndex())
            case QAbstractSlider():
                part.setValue(self.luck.randint(part.minimum(), part.maximum()))
            case QTabBar():
                part.setCurrentIndex(self.luck.randrange(max(1, part.count())))
            case QAbstractItemView():
                self.row(part)
            case _:
                QTest.mouseClick(part, Qt.MouseButton.LeftButton)

    def row(self, view: QAbstractItemView) -> None:
        """A row of a list, table or tree."""
        model = view.model()
        if model is None or not model.rowCount(view.rootIndex()):
            return
        place = model.index(self.luck.randrange(model.rowCount(view.rootIndex())), 0, view.rootIndex())
        middle = view.visualRect(place).center()
        button = self.luck.choice(BUTTONS[:5])
        QTest.mouseClick(view.viewport(), button, self.luck.choice(MODIFIERS), middle)
        if self.luck.random() < 0.3:
            QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)

    def text(self) -> str:
        """Something to type."""
        names = [element.name for each in COLLECTIONS for element in getattr(self.window.session.model, each)]
        return self.luck.choice(
            (
                self.luck.choice(NUMBERS)[:80],
                self.luck.choice(NAMES)[:80],
                self.luck.choice(names or ["x"]),
                formula(self.luck, 2).text[:120],
                f"{self.luck.uniform(-3, 3):.3g}",
                f"{self.luck.randint(-90, 90)} deg",
            )
        )

    def type_into(self, part: QWidget) -> None:
        """Type over what is there, and finish or give up."""
        text = self.text()
        self.note(f"type {text!r}")
        part.setFocus()
        if hasattr(part, "selectAll"):
            part.selectAll()
        for character in text:  # QTest knows the keys of Latin-1 only
            for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                QApplication.sendEvent(part, QKeyEvent(kind, 0, Qt.KeyboardModifier.NoModifier, character))
        end = self.luck.choice((Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Escape, None))
        if end is not None:
            QTest.keyClick(part, end)

    # ----------------------------------------------------------------------------- viewport and keys

    def place(self) -> tuple[int, int]:
        """Somewhere in the picture, mostly near its middle, where the machine is."""
        view = self.bench.view
        if self.luck.random() < 0.7:
            return (
                round(self.luck.gauss(view.width() / 2, view.width() / 8)),
                round(self.luck.gauss(view.height() / 2, view.height() / 8)),
            )
        return self.luck.randrange(view.width()), self.luck.randrange(view.height())

    def click(self) -> None:
        """Somewhere in the picture."""
        place, button, keys = self.place(), self.luck.choice(BUTTONS), self.luck.choice(MODIFIERS)
        self.note(f"click {place} {button.name} {keys}")
        self.bench.move(*place)
        self.bench.drag([place], button, keys)
        if self.luck.random() < 0.1:
            QTest.mouseDClick(self.bench.view, button, keys, QPoint(*place))

    def drag(self) -> None:
        """From somewhere to somewhere else; sometimes given up on the way, or something else is done there."""
        points = [self.place() for _ in range(self.luck.randint(2, 4))]
        button, keys = self.luck.choice(BUTTONS), self.luck.choice(MODIFIERS)
        self.note(f"drag {points} {button.name} {keys}")
        self.bench.move(*points[0])
        self.bench.press(*points[0], button, keys)
        for point in points[1:]:
            self.bench.move(*point, keys)
            if self.luck.random() < 0.1:
                self.luck.choice((self.back_and_forth, self.delete, self.command, self.key))()
        self.bench.release(*points[-1], button, keys)

    def wheel(self) -> None:
        """Nearer or farther."""
        place = QPointF(*self.place())
        turn = QPoint(0, self.luck.choice((-240, -120, 120, 240)))
        self.note(f"wheel {turn.y()}")
        view = self.bench.view
        event = QWheelEvent(
            place,
            QPointF(view.mapToGlobal(place.toPoint())),
            QPoint(),
            turn,
            Qt.MouseButton.NoButton,
            self.luck.choice(MODIFIERS),
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(view, event)

    def key(self) -> None:
        """A key, wherever the focus is."""
        focus = QApplication.focusWidget() or self.bench.view
        if self.luck.random() < 0.3:
            key, keys = self.luck.choice(RELATIVE_MEASURES), Qt.KeyboardModifier.ControlModifier
        else:
            key, keys = self.luck.choice(KEYS), Qt.KeyboardModifier.NoModifier
        self.note(f"key {key.name} in {type(focus).__name__}")
        QTest.keyClick(focus, key, keys)

    # ----------------------------------------------------------------------------- questions

    def answer(self, dialog: QWidget) -> None:
        """What a menu or a dialog asks for."""
        self.note(f"answer {type(dialog).__name__} {dialog.windowTitle()!r}")
        if isinstance(dialog, QMenu):
            actions = [each for each in dialog.actions() if each.isEnabled() and not each.isSeparator()]
            actions = [each for each in actions if each.objectName() not in LEFT_OUT and each.menu() is None]
            if actions and self.luck.random() < 0.7:
                chosen = self.luck.choice(actions)
                self.note(f"  {chosen.text()}")
                dialog.close()
                chosen.trigger()
            else:
                dialog.close()
        elif self.luck.random() < 0.4:
            QTest.keyClick(dialog, self.luck.choice((Qt.Key.Key_Escape, Qt.Key.Key_Return)))
        else:
            self.use(dialog)


ACTIONS: dict[Callable[[Hands], None], int] = {
    Hands.command: 8,
    Hands.add: 5,
    Hands.back_and_forth: 5,
    Hands.files: 3,
    Hands.simulate: 5,
    Hands.select: 4,
    Hands.delete: 4,
    Hands.rename: 3,
    Hands.edit: 14,
    Hands.anything: 10,
    Hands.click: 10,
    Hands.drag: 10,
    Hands.wheel: 1,
    Hands.key: 6,
}
"""Actions and how often each is drawn beside the others."""


def answer_questions(luck: Callable[[], random.Random], folder: Callable[[], Path]) -> None:
    """Let what would wait for a person answer itself: boxes, file dialogs, other programs."""
    button = QMessageBox.StandardButton

    def box(self: QMessageBox) -> int:
        offered = [
            each
            for each in (button.Save, button.Discard, button.Cancel, button.Yes, button.No, button.Ok)
            if self.standardButtons() & each
        ]
        return luck().choice(offered or [button.Ok])

    def saved(*_: object, **__: object) -> tuple[str, str]:
        name = luck().choice(("", "a.kst", "b.kst", "c.urdf", "ä b.kst", "run.h5", "run.csv", "x.png", "no/where.kst"))
        return str(folder() / "files" / name) if name else "", ""

    def opened(*_: object, **__: object) -> tuple[str, str]:
        found = sorted(each for each in (folder() / "files").iterdir() if each.is_file())
        found += [each.path for each in examples() if each.name in SMALL]
        return str(luck().choice(found)) if luck().random() < 0.9 else "", ""

    QMessageBox.exec = box  # type: ignore[method-assign]
    QFileDialog.getSaveFileName = saved  # type: ignore[method-assign]
    QFileDialog.getOpenFileName = opened  # type: ignore[method-assign]
    QColorDialog.getColor = lambda *_, **__: QColor(luck().choice(("red", "", "#123456")))  # type: ignore[method-assign]
    QDesktopServices.openUrl = lambda *_: True  # type: ignore[method-assign]
