"""Entries of a matrix of formulas and their layout: long entries are collapsed, common subexpressions can be named."""

from __future__ import annotations

import time
from collections.abc import Sequence

from app.formulas.abbreviation import (
    BackgroundWork,
    NamedEntries,
    PreparedEntries,
    is_long,
    name_subexpressions,
    prepare_entries,
)
from app.formulas.layout import TypesetForm, Typesetter
from core.symbolic.forms import (
    Form,
    Product,
    Symbol,
    count_operations,
    names_in_form,
    subexpressions,
    with_subexpressions,
)

FOLDED = 160
"""Number of operations above which an entry is initially collapsed to its operation count."""
SLICE = 0.008
"""Duration of a time slice for typesetting, s."""
WRAP, ALONE = 380.0, 640.0
"""Largest line width of an entry among others, and of one in a single column, pixels."""
GAP, PAD, HEAD = 20.0, 8.0, 20.0
"""Space between columns, padding inside brackets, height of column labels, pixels."""


class FormulaCell:
    """One entry of the matrix with its display state."""

    def __init__(self, form: Form, *, name: str = "") -> None:
        self.form, self.name = form, name
        self.shown: bool | None = None
        """True if the formula is shown; None until its size is known."""
        self.operations = 0
        self.setting: TypesetForm | None = None

    @property
    def collapsed_text(self) -> str:
        """Return the text shown in place of a collapsed entry."""
        return f"{self.operations:,} operations – show"


class FormulaGrid:
    """Cells of the matrix and, below them, of the definitions of named subexpressions; sizes and positions in
    pixels."""

    def __init__(self, entries: Sequence[Sequence[Form]], *, equations: bool = False) -> None:
        self.entries = [list(row) for row in entries]
        self.equations = equations
        """True if entries stand behind names, and begin below each other."""
        self.cells = [[FormulaCell(form) for form in row] for row in self.entries]
        self._plain = self.cells
        """The cells without names."""
        self.definitions: list[FormulaCell] = []
        self.meaning: dict[str, Form] = {}
        """Names of subexpressions → what they stand for, in names; empty while nothing is in names."""
        self.unfolded: set[str] = set()
        self._names: NamedEntries | None = None
        self._waiting: list[FormulaCell] = []
        self._making: BackgroundWork | None = None
        if is_long(entries):
            self._making = BackgroundWork(lambda: prepare_entries(entries), self._take_prepared)
        else:
            self._take_prepared(prepare_entries(entries))

    def _take_prepared(self, prepared_entries: PreparedEntries) -> None:
        """Use the prepared entries and their operation counts."""
        self.entries = prepared_entries.entries
        self.cells = [[FormulaCell(form) for form in row] for row in self.entries]
        for row, sizes in zip(self.cells, prepared_entries.sizes, strict=True):
            for cell, size in zip(row, sizes, strict=True):
                cell.operations, cell.shown = size, size <= FOLDED
        self._plain = self.cells

    @property
    def is_preparing(self) -> bool:
        """True while long formulas are being prepared in the background."""
        return self._making is not None

    # ------------------------------------------------------------------------------- subexpressions

    def name_subexpressions(self) -> None:
        """Show entries with names for repeated subexpressions; if the formulas are long, this is done in the
        background."""
        if is_long(self.entries):
            self._making = BackgroundWork(lambda: name_subexpressions(self.entries), self._take_names)
        else:
            self._take_names(name_subexpressions(self.entries))

    def _take_names(self, named_entries: NamedEntries) -> None:
        self._names = named_entries
        self.meaning = named_entries.meaning
        self.unfolded.clear()
        self._apply_names()

    def write_in_full(self) -> None:
        """Show entries without names for repeated subexpressions."""
        self._making = self._names = None
        self.meaning, self.definitions = {}, []
        self.unfolded.clear()
        self.cells = self._plain

    def toggle_definition(self, name: str) -> None:
        """Replace a name by its definition, or restore the name."""
        self.unfolded ^= {name}
        self._apply_names()

    def _apply_names(self) -> None:
        made = self._names
        assert made is not None
        given = {name: self.meaning[name] for name in self.unfolded}
        self._replace_forms([[_substitute_definitions(form, given) for form in row] for row in made.entries])
        needed: set[str] = set()
        waiting = list(made.used)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += made.uses[name]
        self.definitions = [
            FormulaCell(_substitute_definitions(form, given), name=name)
            for name, form in self.meaning.items()
            if name in needed and name not in self.unfolded
        ]

    def _replace_forms(self, forms: Sequence[Sequence[Form]]) -> None:
        old = {id(cell.form): cell for row in self.cells for cell in row}
        self.cells = [[old.get(id(form)) or FormulaCell(form) for form in row] for row in forms]

    # ------------------------------------------------------------------------------- setting

    @property
    def all_cells(self) -> list[FormulaCell]:
        """Return all cells, those of definitions last."""
        return [*(cell for row in self.cells for cell in row), *self.definitions]

    def begin_typesetting(self, typesetter: Typesetter) -> None:
        """Typeset all cells again, for another size or other formulas."""
        self.hand = typesetter
        for cell in self.all_cells:
            if cell.setting is not None and cell.setting.hand is not typesetter:
                cell.setting = None
        self._waiting = [cell for cell in self.all_cells if not (cell.setting and cell.setting.done)]

    def typeset_some(self, seconds: float = SLICE) -> bool:
        """Continue preparing and typesetting for the given time; return True when all is done."""
        until = time.perf_counter() + seconds
        if self._making is not None:
            if not self._making.is_done:
                return False
            making, self._making = self._making, None
            making.deliver_result()
            self.begin_typesetting(self.hand)
        while self._waiting:
            cell = self._waiting[0]
            if cell.shown is None:
                cell.operations = count_operations(cell.form)
                cell.shown = cell.operations <= FOLDED
            if cell.shown:
                if cell.setting is None:
                    cell.setting = TypesetForm(cell.form, self.hand, self._max_line_width(cell))
                if not cell.setting.typeset_until(until):
                    return False
            self._waiting.pop(0)
            if time.perf_counter() > until:
                return not self._waiting
        return True

    def _max_line_width(self, cell: FormulaCell) -> float:
        alone = cell.name or len(self.cells[0]) == 1
        return (ALONE if alone else WRAP) * self.hand.size / 17.0

    def cell_size(self, cell: FormulaCell) -> tuple[float, float]:
        """Return width and height of a cell."""
        if cell.shown and cell.setting is not None:
            return cell.setting.width, cell.setting.height
        text = cell.collapsed_text if cell.shown is False else "…"
        return self.hand.text_width(text, True) + 12.0, self.hand.size * 1.3

    def lay_out(self, labels: Sequence[str], left: float) -> None:
        """Compute the positions of columns and rows; `left`: position inside the opening bracket."""
        sizes = [[self.cell_size(cell) for cell in row] for row in self.cells]
        columns = range(len(self.cells[0]) if self.cells else 0)
        label = [self.hand.text_width(text, True) for text in labels] or [0.0 for _ in columns]
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
            width, height = self.cell_size(cell)
            self.below.append((left + PAD + 26.0, y, height))
            y += height + 0.4 * self.hand.size
        widths = [self.cell_size(cell)[0] + left + PAD + 30.0 for cell in self.definitions]
        self.width, self.height = max(self.right, *widths, 0.0), y

    def cell_corner(self, i: int, j: int) -> tuple[float, float]:
        """Return the upper left corner of the formula in row i and column j, which is centred in its cell."""
        width, height = self.cell_size(self.cells[i][j])
        if self.equations:
            width = self.widths[j]
        return self.lefts[j] + (self.widths[j] - width) / 2.0, self.tops[i] + (self.heights[i] - height) / 2.0

    def find_cell(self, x: float, y: float) -> tuple[FormulaCell, int, int, float, float] | None:
        """Return the cell at a position, its row and column (−1 for definitions), and the corner of its formula; None
        if there is none."""
        for i, (top, height) in enumerate(zip(self.tops, self.heights, strict=True)):
            for j, (left, width) in enumerate(zip(self.lefts, self.widths, strict=True)):
                if top <= y < top + height and left - GAP / 2 <= x < left + width + GAP / 2:
                    return self.cells[i][j], i, j, *self.cell_corner(i, j)
        for cell, (left, top, height) in zip(self.definitions, self.below, strict=True):
            if top <= y < top + height + 0.4 * self.hand.size and x <= left + self.cell_size(cell)[0]:
                return cell, -1, -1, left, top
        return None


def _substitute_definitions(form: Form, definitions: dict[str, Form]) -> Form:
    """Return a formula with names replaced by their definitions."""
    if not definitions or definitions.keys().isdisjoint(names_in_form(form)):
        return form
    if isinstance(form, Symbol):
        return _substitute_definitions(definitions[form.name], definitions) if form.name in definitions else form
    if isinstance(form, Product):
        parts = [_substitute_definitions(factor, definitions) for factor in form.factors]
        return Product(tuple(f for part in parts for f in (part.factors if isinstance(part, Product) else (part,))))
    return with_subexpressions(form, [_substitute_definitions(part, definitions) for part in subexpressions(form)])
