"""Entries of a matrix of formulas and their layout: long ones collapsed, common subexpressions named."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.formulas.abbreviation import Beside, Names, Prepared, is_long, named, prepared
from app.formulas.layout import Hand, Setting
from core.symbolic.forms import Form, Product, Symbol, children, names, operations, rebuilt

FOLDED = 160
"""Number of operations above which an entry is collapsed to its size until expanded."""
SLICE = 0.008
"""Time slice of typesetting, s."""
WRAP, ALONE = 380.0, 640.0
"""Largest line width of an entry among others, and of one in a single column, pixels."""
GAP, PAD, HEAD = 20.0, 8.0, 20.0
"""Space between columns, padding inside brackets, height of column labels, pixels."""


class Cell:
    """One entry with its display state."""

    def __init__(self, form: Form, *, name: str = "") -> None:
        self.form, self.name = form, name
        self.shown: bool | None = None
        """True if the formula is shown; None until its size is known."""
        self.operations = 0
        self.setting: Setting | None = None

    @property
    def note(self) -> str:
        """Return the text that replaces a collapsed entry."""
        return f"{self.operations:,} operations – show"


class Grid:
    """Cells of the matrix and, below it, of the named subexpressions; sizes and positions in pixels."""

    def __init__(self, entries: Sequence[Sequence[Form]], *, equations: bool = False) -> None:
        self.entries = [list(row) for row in entries]
        self.equations = equations
        """True if entries stand behind names, and begin below each other."""
        self.cells = [[Cell(form) for form in row] for row in self.entries]
        self._plain = self.cells
        """The cells without names."""
        self.definitions: list[Cell] = []
        self.meaning: dict[str, Form] = {}
        """Names of subexpressions → what they stand for, in names; empty while nothing is in names."""
        self.unfolded: set[str] = set()
        self._names: Names | None = None
        self._waiting: list[Cell] = []
        self._making: Beside | None = None
        if is_long(entries):
            self._making = Beside(lambda: prepared(entries), self._take_prepared)
        else:
            self._take_prepared(prepared(entries))

    def _take_prepared(self, made: Prepared) -> None:
        """Take the displayed forms and their sizes."""
        self.entries = made.entries
        self.cells = [[Cell(form) for form in row] for row in self.entries]
        for row, sizes in zip(self.cells, made.sizes, strict=True):
            for cell, size in zip(row, sizes, strict=True):
                cell.operations, cell.shown = size, size <= FOLDED
        self._plain = self.cells

    @property
    def preparing(self) -> bool:
        """True while long forms are being prepared in the background."""
        return self._making is not None

    # ------------------------------------------------------------------------------- subexpressions

    def name_subexpressions(self) -> None:
        """Show entries with names for repeated subexpressions (after a delay if they are long)."""
        if is_long(self.entries):
            self._making = Beside(lambda: named(self.entries), self._take_names)
        else:
            self._take_names(named(self.entries))

    def _take_names(self, made: Names) -> None:
        self._names = made
        self.meaning = made.meaning
        self.unfolded.clear()
        self._name()

    def write_in_full(self) -> None:
        """Show entries without names for subexpressions."""
        self._making = self._names = None
        self.meaning, self.definitions = {}, []
        self.unfolded.clear()
        self.cells = self._plain

    def unfold(self, name: str) -> None:
        """Replace a name by its definition, or restore the name."""
        self.unfolded ^= {name}
        self._name()

    def _name(self) -> None:
        made = self._names
        assert made is not None
        given = {name: self.meaning[name] for name in self.unfolded}
        self._replace_forms([[_substituted(form, given) for form in row] for row in made.entries])
        needed: set[str] = set()
        waiting = list(made.used)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += made.uses[name]
        self.definitions = [
            Cell(_substituted(form, given), name=name)
            for name, form in self.meaning.items()
            if name in needed and name not in self.unfolded
        ]

    def _replace_forms(self, forms: Sequence[Sequence[Form]]) -> None:
        old = {id(cell.form): cell for row in self.cells for cell in row}
        self.cells = [[old.get(id(form)) or Cell(form) for form in row] for row in forms]

    # ------------------------------------------------------------------------------- setting

    @property
    def all(self) -> list[Cell]:
        """Return every cell, definitions last."""
        return [*(cell for row in self.cells for cell in row), *self.definitions]

    def begin(self, hand: Hand) -> None:
        """Start typesetting again (for another size or other forms)."""
        self.hand = hand
        for cell in self.all:
            if cell.setting is not None and cell.setting.hand is not hand:
                cell.setting = None
        self._waiting = [cell for cell in self.all if not (cell.setting and cell.setting.done)]

    def work(self, seconds: float = SLICE) -> bool:
        """Continue counting and typesetting for the given time; return True when all is done."""
        until = time.perf_counter() + seconds
        if self._making is not None:
            if not self._making.done:
                return False
            making, self._making = self._making, None
            making.take()
            self.begin(self.hand)
        while self._waiting:
            cell = self._waiting[0]
            if cell.shown is None:
                cell.operations = operations(cell.form)
                cell.shown = cell.operations <= FOLDED
            if cell.shown:
                if cell.setting is None:
                    cell.setting = Setting(cell.form, self.hand, self._wrap(cell))
                if not cell.setting.work(until):
                    return False
            self._waiting.pop(0)
            if time.perf_counter() > until:
                return not self._waiting
        return True

    def _wrap(self, cell: Cell) -> float:
        alone = cell.name or len(self.cells[0]) == 1
        return (ALONE if alone else WRAP) * self.hand.size / 17.0

    def size(self, cell: Cell) -> tuple[float, float]:
        """Return width and height of a cell."""
        if cell.shown and cell.setting is not None:
            return cell.setting.width, cell.setting.height
        text = cell.note if cell.shown is False else "…"
        return self.hand.advance(text, True) + 12.0, self.hand.size * 1.3

    def lay_out(self, labels: Sequence[str], left: float) -> None:
        """Compute the positions of columns and rows; `left`: position inside the opening bracket."""
        sizes = [[self.size(cell) for cell in row] for row in self.cells]
        columns = range(len(self.cells[0]) if self.cells else 0)
        label = [self.hand.advance(text, True) for text in labels] or [0.0 for _ in columns]
        self.widths = [max(label[k], *(row[k][0] for row in sizes)) for k in columns]
        self.heights = [max(height for _, height in row) + 0.5 * self.hand.size for row in sizes]
        self.lefts, x = [], left + PAD
        for width in self.widths:
            self.lefts.append(x)
            x += width + GAP
        self.right = x - GAP + PAD
        self.tops, y = [], (HEAD if labels else 0.0) + 4.0
        for height in self.heights:
            self.tops.append(y)
            y += height
        self.bottom = y
        self.below: list[tuple[float, float, float]] = []
        """Left, top and height of each definition's formula."""
        y += 10.0
        for cell in self.definitions:
            width, height = self.size(cell)
            self.below.append((left + PAD + 26.0, y, height))
            y += height + 0.4 * self.hand.size
        widths = [self.size(cell)[0] + left + PAD + 30.0 for cell in self.definitions]
        self.width, self.height = max(self.right, *widths, 0.0), y

    def place(self, i: int, j: int) -> tuple[float, float]:
        """Return the upper left corner of the formula in row i and column j, centred in its place."""
        width, height = self.size(self.cells[i][j])
        if self.equations:
            width = self.widths[j]
        return self.lefts[j] + (self.widths[j] - width) / 2.0, self.tops[i] + (self.heights[i] - height) / 2.0

    def at(self, x: float, y: float) -> tuple[Cell, int, int, float, float] | None:
        """Return the cell at a position, its row and column (−1 for definitions), and its corner."""
        for i, (top, height) in enumerate(zip(self.tops, self.heights, strict=True)):
            for j, (left, width) in enumerate(zip(self.lefts, self.widths, strict=True)):
                if top <= y < top + height and left - GAP / 2 <= x < left + width + GAP / 2:
                    return self.cells[i][j], i, j, *self.place(i, j)
        for cell, (left, top, height) in zip(self.definitions, self.below, strict=True):
            if top <= y < top + height + 0.4 * self.hand.size and x <= left + self.size(cell)[0]:
                return cell, -1, -1, left, top
        return None


def _substituted(form: Form, meaning: dict[str, Form]) -> Form:
    """Return the form with names replaced by their definitions."""
    if not meaning or meaning.keys().isdisjoint(names(form)):
        return form
    if isinstance(form, Symbol):
        return _substituted(meaning[form.name], meaning) if form.name in meaning else form
    if isinstance(form, Product):
        parts = [_substituted(factor, meaning) for factor in form.factors]
        return Product(tuple(f for part in parts for f in (part.factors if isinstance(part, Product) else (part,))))
    return rebuilt(form, [_substituted(part, meaning) for part in children(form)])
