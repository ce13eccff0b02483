"""Formulas on cards: set as seen, folded, in named subexpressions, chosen, copied, appended; the proof is told."""

import dataclasses
import time
import unicodedata

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter, QRawFont, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.background.jobs import Jobs
from app.document.session import ElementRef, Session
from app.formulas import abbreviation
from app.formulas.cells import FOLDED, FormulaGrid
from app.formulas.formula_view import FormulasView
from app.formulas.layout import TypesetForm, Typesetter, formula_font_family, italic
from app.panels.output.formulas_part import AppendDialog
from app.panels.output.panel import OutputPanel
from app.runs.answers import ResultUpdater
from core.files import load
from core.functions import Context, call
from core.functions.results import Formulas
from core.symbolic.forms import count_operations, evaluate, names_in_form
from resources import EXAMPLES, FORMULA_FONT


def session_of(name):
    return Session(load(EXAMPLES / name))


@pytest.fixture
def panel(qtbot, settings):
    session = session_of("two_link.rob")
    panel = OutputPanel(session, ResultUpdater(session, Jobs()), settings)
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.show()
    yield panel
    panel.close()


def derived(session, what, **options):
    context = Context(session.model, session.mech, session.q, dict(session.p))
    return call("derive", context, what=what, **options)


def shown(panel, what="M", **options):
    panel._session.produced.emit(derived(panel._session, what, **options))
    return panel.cards[-1], panel.cards[-1]._parts[0]


def middle(view, i, j):
    x, y = view.grid.cell_corner(i, j)
    width, height = view.grid.cell_size(view.grid.cells[i][j])
    return QPoint(round(x + width / 2), round(y + height / 2))


# --------------------------------------------------------------------------------- setting


def test_every_symbol_stands_in_the_set_formula(qapp):
    hand = Typesetter(17.0)
    for row in derived(session_of("two_link.rob"), "tau").entries:
        setting = TypesetForm(row[0], hand, 300.0)
        assert setting.typeset_until(time.perf_counter() + 10.0)
        assert {name for placed in setting.placed for name in placed.token.symbols} == names_in_form(row[0])
        assert len(setting.lines) > 1
        assert setting.width <= 300.0 + 120.0
        for placed in setting.placed:
            if placed.token.symbols:
                up = setting.baselines()[placed.line]
                assert setting.find_token(placed.x + 0.5 * placed.token.width, up) == placed.token


def test_setting_goes_on_in_slices(qapp):
    form = derived(session_of("puma560.kst"), "C").entries[0][0]
    setting, slices = TypesetForm(form, Typesetter(17.0), 380.0), 0
    while not setting.typeset_until(0.0):
        slices += 1
    assert slices > 3
    assert setting.done


def test_letters_are_mathematical_italics():
    assert [italic(letter) for letter in "aZhα"] == ["\U0001d44e", "\U0001d44d", "\u210e", "\U0001d6fc"]
    assert italic("1") == "1"


# --------------------------------------------------------------------------------- folding


def values_of(forms):
    used = sorted(set().union(*map(names_in_form, forms)))
    return {name: 0.4 + 0.17 * k for k, name in enumerate(used)}


def test_names_stand_for_what_they_say(monkeypatch):
    monkeypatch.setattr(abbreviation, "LONG", 1_000_000)  # nothing beside the window, which is not there
    entries = derived(session_of("puma560.kst"), "M").entries
    grid = FormulaGrid(entries)
    flat = [form for row in grid.entries for form in row]
    values = values_of(flat)
    expected = [evaluate(form, values) for form in flat]
    grid.name_subexpressions()
    assert sum(count_operations(cell.form) for cell in grid.all_cells) < 0.7 * sum(map(count_operations, flat))
    for cell in grid.definitions:
        values[cell.name] = evaluate(cell.form, values)
    found = [evaluate(cell.form, values) for row in grid.cells for cell in row]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    gone = grid.definitions[0].name
    grid.toggle_definition(gone)
    assert gone not in {cell.name for cell in grid.definitions}
    assert all(gone not in names_in_form(cell.form) for cell in grid.all_cells)
    found = [evaluate(cell.form, values) for row in grid.cells for cell in row]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    grid.write_in_full()
    assert [cell.form for row in grid.cells for cell in row] == flat


def test_long_entries_are_folded_until_asked_for(qtbot):
    view = FormulasView(derived(session_of("puma560.kst"), "C"))
    qtbot.addWidget(view)
    view.resize(700, 400)
    view.show()
    qtbot.waitUntil(lambda: view.is_typeset)
    folded = [(i, j) for i, row in enumerate(view.grid.cells) for j, cell in enumerate(row) if cell.shown is False]
    assert folded
    i, j = folded[0]
    cell = view.grid.cells[i][j]
    assert cell.operations > FOLDED
    assert f"{cell.operations:,} operations" in cell.collapsed_text
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, i, j))
    qtbot.waitUntil(lambda: view.is_typeset)
    assert cell.shown
    assert cell.setting.height > 100
    assert view.horizontalScrollBar().maximum() > 0
    assert view.verticalScrollBar().maximum() > 0
    assert view.height() <= view.tallest


def test_where_nothing_is_worth_a_name_the_switch_says_so(qtbot, panel):
    _, part = shown(panel, "tau")  # of two links: only sines and products of two occur twice
    qtbot.waitUntil(lambda: part.view.is_typeset)
    QTest.mouseClick(part.names, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not part.names.isEnabled())
    assert part.names.text() == "No common subexpressions"
    assert not part.names.isChecked()
    assert not part.view.grid.definitions


def test_a_name_is_put_in_place_by_a_click(qtbot, settings):
    session = session_of("puma560.kst")
    panel = OutputPanel(session, ResultUpdater(session, Jobs()), settings)
    qtbot.addWidget(panel)
    panel.resize(900, 600)
    panel.show()
    _, part = shown(panel, "G", symbols="all")  # sums of masses occur in several rows
    qtbot.waitUntil(lambda: part.view.is_typeset)
    QTest.mouseClick(part.names, Qt.MouseButton.LeftButton)
    view = part.view
    qtbot.waitUntil(lambda: view.is_typeset and bool(view.grid.definitions))
    cells = [(i, cell, p) for i, row in enumerate(view.grid.cells) for cell in row for p in cell.setting.placed]
    i, cell, placed = next(each for each in cells if set(each[2].token.symbols) & view.grid.meaning.keys())
    name = placed.token.symbols[0]
    x, y = view.grid.cell_corner(i, 0)
    up = cell.setting.baselines()[placed.line]
    QTest.mouseClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(round(x + placed.x + placed.token.width / 2), round(y + up - 3)),
    )
    assert name in view.grid.unfolded
    qtbot.waitUntil(lambda: view.is_typeset)
    QTest.mouseClick(part.names, Qt.MouseButton.LeftButton)
    assert not view.grid.meaning
    panel.close()


# --------------------------------------------------------------------------------- choosing, copying


def test_entries_are_chosen_and_copied(qtbot, panel):
    _, part = shown(panel)
    view = part.view
    qtbot.waitUntil(lambda: view.is_typeset)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, 0, 1))
    assert view.chosen == {(0, 1)}
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.chosen == {(1, 1)}
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "I2 + 1/4 a2^2 m2"
    QTest.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert len(view.chosen) == 4
    view.copy("latex")
    assert r"a_{2}^{2}" in QGuiApplication.clipboard().text()


def test_the_cards_menu_copies_in_every_language(panel):
    card, _ = shown(panel)
    menu = card._build_copy_menu(card)
    words = {
        "Text": "1/4 a1^2 m1",
        "LaTeX": r"\begin{bmatrix}",
        "Python": "def M(",
        "Mathematica": "M = {{",
        "C": "void M(",
        "SymPy": "symbols('",
        "One entry per line": "M[[1,2]] =",
    }
    for title, word in words.items():
        next(action for action in menu.actions() if action.text() == title).trigger()
        assert word in QGuiApplication.clipboard().text(), title


def test_formulas_are_appended_and_the_file_remembered(qtbot, panel, settings, tmp_path):
    card, _ = shown(panel)
    path = tmp_path / "robot.tex"
    dialog = AppendDialog(card, card.format_formulas, "", panel._session, settings)
    qtbot.addWidget(dialog)
    dialog.show()
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert dialog.note.severity == "error"
    QTest.keyClicks(dialog.file, str(path))
    QTest.keyClicks(dialog.label, "Masses")
    dialog.language.setCurrentIndex(dialog.language.findData("latex"))
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert path.read_text().startswith("Masses = \\begin{bmatrix}")
    again = AppendDialog(card, card.format_formulas, "", panel._session, settings)
    qtbot.addWidget(again)
    assert again.file.text() == str(path)
    assert again.language.currentData() == "latex"
    again.accept()
    assert path.read_text().count("bmatrix") == 4
    again.file.setText(str(tmp_path / "none" / "x.tex"))
    again.accept()
    assert "cannot be written" in again.note.words


# --------------------------------------------------------------------------------- proof, notes


def test_proof_and_notes(qtbot, panel):
    card, part = shown(panel)
    qtbot.waitUntil(part.isVisible)
    assert part.proof.severity == "done"
    assert part.proof.text().startswith("✓")
    failed = dataclasses.replace(card.result, proof="M DIFFERS from the compiled kernel", proved=False)
    card.show_result(failed)
    assert part.proof.severity == "error"
    assert part.proof.text().startswith("✕")
    assert not part.conventions.isVisible()
    QTest.mouseClick(part._conventions, Qt.MouseButton.LeftButton)
    assert part.conventions.isVisible()
    for word in ("gravity accelerates", "Inertia about each centre of mass", "Denavit–Hartenberg"):
        assert word in part.conventions.text()


def test_recognised_numbers_are_listed(qtbot, settings):
    session = session_of("stanford.rob")
    panel = OutputPanel(session, ResultUpdater(session, Jobs()), settings)
    qtbot.addWidget(panel)
    panel.show()
    result = dataclasses.replace(derived(panel._session, "G"), recognised=("link1, a: 0.333333 was taken for 1/3",))
    panel._session.produced.emit(result)
    part = panel.cards[0]._parts[0]
    assert part._recognised.text() == "Recognised numbers (1)"
    qtbot.waitUntil(part.isVisible)
    part._recognised.click()
    assert part.recognised.isVisible()
    assert "1/3" in part.recognised.text()
    panel.close()


# --------------------------------------------------------------------------------- scene


def test_a_chosen_link_marks_its_terms(panel):
    _, part = shown(panel)
    session = panel._session
    session.select(ElementRef("bodies", "link2"))
    assert {"m2", "I2", "a2"} <= part.view.marked
    assert "m1" not in part.view.marked
    assert part.view.marked_labels == {"joint2"}
    session.select(None)
    session.set_hovered_element(ElementRef("joints", "joint1"))
    assert "q1" in part.view.marked
    session.set_hovered_element(None)
    panel.clear()
    session.select(ElementRef("bodies", "link1"))  # nobody listens any more


def test_the_pointer_tells_what_an_entry_belongs_to(qtbot, panel):
    from app.formulas.formula_view import PointerSpot

    _, part = shown(panel)
    assert part.find_element(PointerSpot(("m2",), 0, 0)) == ElementRef("bodies", "link2")
    assert part.find_element(PointerSpot(("Dq1",), 0, 0)) == ElementRef("joints", "joint1")
    assert part.find_element(PointerSpot((), 1, 0)) == ElementRef("joints", "joint2")
    assert part.find_element(PointerSpot()) is None
    assert part.view.describe_spot(PointerSpot(("q2",), 0, 0)) == "q2: joint joint2"
    assert part.view.describe_spot(PointerSpot((), 0, 1)) == "joint1 · joint2"


# --------------------------------------------------------------------------------- painting


def ink(view, ratio=1.0):
    image = QImage(view.size() * ratio, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    view.render(painter, QPoint())
    painter.end()
    gray = image.convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.frombuffer(gray.constBits(), np.uint8).reshape(gray.height(), gray.bytesPerLine())[:, : gray.width()]
    return int((np.abs(pixels.astype(int) - int(np.median(pixels))) > 60).sum())


def test_it_is_painted_at_any_scale_and_zooms(qtbot, panel):
    _, part = shown(panel)
    view = part.view
    qtbot.waitUntil(lambda: view.is_typeset)
    once, twice = ink(view), ink(view, 2.0)
    assert once > 300
    assert twice > 2 * once
    before = view.content.width()
    place = QPointF(20, 20)
    event = QWheelEvent(
        place,
        QPointF(view.viewport().mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)
    qtbot.waitUntil(lambda: view.is_typeset)
    assert view.content.width() > 1.15 * before


def test_empty_label_and_single_entry(qtbot):
    from core.symbolic.factoring import simplify_text

    view = FormulasView(Formulas(title="t", label="", entries=((simplify_text("Sin[q1]^2 + Cos[q1]^2"),),)))
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: view.is_typeset)
    assert ink(view) > 3


# --------------------------------------------------------------------------------- loops in symbols


@pytest.fixture
def loops():
    session = session_of("four_bar.kst")
    context = Context(session.model, session.mech, session.q, dict(session.p))
    return call("loop_symbols", context)


def equations(loops, title):
    return next(part for part in loops.parts if isinstance(part, Formulas) and part.title == title)


def test_parts_of_a_fraction_are_pointed_at_by_themselves(qapp, loops):
    ratio = equations(loops, "Velocity ratios").entries[0][0]
    hand = Typesetter(17.0)
    setting = TypesetForm(ratio, hand, 600.0)
    assert setting.typeset_until(time.perf_counter() + 10.0)
    assert len(setting.placed) == 1
    whole = setting.placed[0].token
    assert set(whole.symbols) == {"a", "c", "q1", "q2", "q3"}
    baseline = setting.baselines()[0]
    found = {}
    for x, y, token in whole.inner:
        for name in token.symbols:
            found[name] = setting.find_token(x + token.width / 2.0, baseline + y - 0.2 * hand.size)
    assert {name for name, token in found.items() if token.symbols == (name,)} >= {"a", "c"}
    assert whole.ascent > 1.2 * hand.size  # the numerator stands above the line
    assert setting.find_token(0.5, baseline - hand.axis).symbols == ()


def test_too_wide_fractions_stand_in_a_line(qapp):
    from core.symbolic.forms import Quotient, Sum, Symbol

    wide = Sum(tuple(Symbol(f"m{k}") for k in range(60)))
    tokens = list(Typesetter(17.0).form_tokens(Quotient(wide, Symbol("a"))))
    assert len(tokens) > 60
    assert any(token.breaks for token in tokens)


def test_equations_stand_behind_their_names(qtbot, loops):
    part = equations(loops, "Velocity ratios")
    view = FormulasView(part)
    qtbot.addWidget(view)
    view.resize(900, 300)
    view.show()
    qtbot.waitUntil(lambda: view.is_typeset)
    left = {view.grid.cell_corner(i, 0)[0] for i in range(len(part.names))}
    assert len(left) == 1
    assert next(iter(left)) > 20.0  # room for "k2 = "
    assert view.grab().toImage().width() > 100
    view.chosen = {(0, 0)}
    view.copy("text")
    assert QGuiApplication.clipboard().text() == "k2 = a S3/(c Sin[q1 - q2 + q3])"
    view.copy("latex")
    assert QGuiApplication.clipboard().text().startswith(r"k_{2} = \frac{a")


def test_results_tell_branch_proof_and_reasons(loops):
    words = loops.to_text()
    assert "sigma2 = -1   (±1, branch" in words
    assert words.count("agrees with the compiled kernel") == 4
    assert r"\frac{a\,S_{3}}" in loops.to_latex()
    bricard = Context.of(load(EXAMPLES / "bricard.kst"))
    refused = call("loop_symbols", bricard)
    assert refused.severity == "warning"
    assert "'R3'" in refused.text
    assert "'R3'" in call("write_loop_equations", bricard).text


def test_equations_of_loops_are_appended_to_a_file(tmp_path):
    context = Context.of(load(EXAMPLES / "slider_crank.kst"))
    file = tmp_path / "loops.py"
    call("write_loop_equations", context, what="ratios", language="python", label="piston", file=str(file))
    space = {}
    exec(file.read_text(encoding="utf-8"), space)
    found = space["piston"](l=0.35, offset=0.0, q1=0.5, r=0.1, sigma2=1.0)
    assert found["q2"] == pytest.approx(0.1 * np.cos(0.5) + np.sqrt(0.35**2 - (0.1 * np.sin(0.5)) ** 2))


@pytest.mark.parametrize(
    ("latex", "letters", "below"),
    [
        ("J", "J", ""),
        ("A_{12}", "A", "12"),
        ("A_1", "A", "1"),
        (r"T_{world,\,tool_hand}", "T", "world, tool_hand"),
        ("M(q)", "M(q)", ""),
        (r"\frac{1}{2}", r"\frac{1}{2}", ""),
    ],
)
def test_names_of_matrices_have_their_index_and_argument(latex, letters, below):
    pieces = [piece for token in Typesetter(17.0).title_tokens(latex) for piece in token.pieces]
    plain = unicodedata.normalize("NFKC", "".join(piece.text for piece in pieces if not piece.small))
    assert (plain, "".join(piece.text for piece in pieces if piece.small)) == (letters, below)


def test_the_font_of_formulas_has_all_their_letters():
    font = QRawFont(str(FORMULA_FONT), 17.0)
    assert formula_font_family() == font.familyName() == "STIX Two Math"
    letters = "".join(map(chr, [*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)]))
    greek = "αβγδεζηθικλμνξοπρστυφχψω"
    shown = letters + greek + "".join(map(italic, letters + greek)) + "0123456789()[]+−=·,./√′"
    assert [each for each in shown if not font.supportsCharacter(ord(each))] == []
