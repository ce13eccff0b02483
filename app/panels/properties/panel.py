"""The property editor: every field of the selected element, generated from its declared fields. The first forms are
prepared in idle time after the start, so that the first edit is as quick as later ones."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.background.slices import slices
from app.document.analyses import Diagnosis
from app.document.implied import assembly_of, elements_of_chain, joint_defaults, row_and_field_of
from app.document.link_lengths import LinkLength, resized
from app.document.revision import Ref, State, is_present
from app.document.session import Session
from app.plain_text import as_tip
from app.preferences.element_icons import icon_of
from app.preferences.icons import icon
from app.preferences.settings import Settings, finding_in_preferred_angles
from app.widgets.fields.element_form import ElementForm
from app.widgets.fields.field_editor import Context, FieldEditor, Together
from app.widgets.fields.fields_form import replaced
from app.widgets.fields.part_editors import RowsEditor
from app.widgets.fields.shown_fields import field_title, type_title
from app.widgets.form_layout import lay_out
from app.widgets.label import Label, Note
from app.widgets.quantities.quantity import QuantityEdit
from app.widgets.quantities.quantity_text import Measure, Units, number, quantity, with_unit
from core.errors import KinetostatError
from core.files import refreshed
from core.mechanics.multibody.number_reader import Numbers
from core.model import WORDS, WORLD, Body, DHChain, Finding, Joint, Model, new_elements
from core.model.edits import edits
from core.model.edits.rewiring import together
from core.model.fields import Element

if TYPE_CHECKING:
    from app.workbench import Workbench


def element_at(model: Model, ref: Ref | None) -> Element:
    """Return the selected element, also one that a chain or sub-assembly generates; the model itself for None."""
    if ref is None:
        return model
    own = next((each for each in getattr(model, ref.collection) if each.name == ref.name), None)
    return model.expanded.find(ref.collection, ref.name) if own is None else own


def chain_of(model: Model, ref: Ref | None) -> DHChain | None:
    """Return the chain that generates an element; None for elements of the document itself."""
    if ref is None or ref.collection == "chains" or any(e.name == ref.name for e in getattr(model, ref.collection)):
        return None
    for chain in model.chains:
        if ref in elements_of_chain(chain):
            return chain
    return None


def generating_element(model: Model, ref: Ref | None) -> Ref | None:
    """Return the chain or sub-assembly that generates an element; None for elements of the document itself."""
    chain = chain_of(model, ref)
    if chain is not None:
        return Ref("chains", chain.name)
    assembly = assembly_of(model, ref) if ref is not None else None
    return None if assembly is None else Ref("assemblies", assembly.name)


def findings_in_rows(chain: DHChain, findings: Iterable[Finding]) -> list[Finding]:
    """Convert findings about bodies and joints of a chain to findings about the table rows that define them."""
    found = []
    for finding in findings:
        place = row_and_field_of(chain, Ref(finding.collection, finding.name), finding.field)
        if place is not None:
            field = ".".join(part for part in ("rows", str(place[0]), place[1]) if part)
            found.append(dataclasses.replace(finding, collection="chains", name=chain.name, field=field))
    return found


def _with_row(finding: Finding, path: str) -> Finding:
    """Return a finding about one row as worded beneath the table of all rows."""
    row = re.match(r"rows\.(\d+)", path)
    return finding if row is None else dataclasses.replace(finding, text=f"Row {int(row[1]) + 1}: {finding.text}")


def _name_parts(path: list[str]) -> list[str]:
    """Return the parts of a path that make a parameter's name; vector entries become letters."""
    parts = [part for part in path if part not in ("pose", "position", "parameters")]
    letters = {"0": "x", "1": "y", "2": "z", "3": "w"}
    if (len(parts) > 1 and parts[-1] in letters) or path[-1] in letters:
        parts[-1] = letters[parts[-1]]
    return parts


def mass_text(model: Model, body: Body, units: Units) -> str:
    """Describe the mass and centre of mass that a body gets from its density and shapes; '' without a density."""
    if body.density is None:
        return ""
    try:
        inertia = Numbers(model.values(), model.origin).inertia(body)
    except KinetostatError as error:
        return error.what
    if not inertia.mass:
        return "No shape has a volume; the body has no mass."
    length = Measure("length")
    center = ", ".join(number(float(x) / inertia.mass, length, units, 4) for x in inertia.moment)
    mass = quantity(inertia.mass, Measure("mass"), units, 5)
    return f"{mass} from the shapes, centre of mass {with_unit(f'({center})', length, units)}"


class PropertyEditor(QWidget):
    """Shows the selected element, or the model with its gravity when nothing is selected. Each committed field is one
    undo step; after an edit the fields update in place."""

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.settings = session, settings
        self.form: ElementForm | None = None
        self.diagnosis = Diagnosis(self)
        self.diagnosis.ready.connect(self.refresh)
        self._found: tuple[Finding, ...] = ()
        self._form_of: tuple[type, Ref | None] | None = None
        self._build()
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.selected, self._on_selected),
            (settings.changed, self._on_setting_changed),
        )
        self.refresh()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _build(self) -> None:
        self.icon = Label(parent=self)
        self.title = Label(parent=self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        font = self.title.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 1.1)
        self.title.setFont(font)
        self.title.setMinimumWidth(20)
        self.what = Label(parent=self)
        self.what.setProperty("muted", True)
        head = QHBoxLayout()
        head.setContentsMargins(10, 8, 10, 4)
        head.setSpacing(6)
        head.addWidget(self.icon)
        head.addWidget(self.title, 0)
        head.addWidget(self.what, 1)
        self.general = Note(self)
        self.general.setContentsMargins(10, 0, 10, 4)
        self.link = QPushButton(icon("chain"), "", self)
        self.link.clicked.connect(self._edit_holder)
        self._forms: dict[type, tuple[ElementForm, QScrollArea]] = {}
        self.pages = QStackedWidget(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.general)
        row = QHBoxLayout()
        row.setContentsMargins(10, 0, 10, 4)
        row.addWidget(self.link)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.pages, 1)

    # --------------------------------------------------------------------------- showing

    def refresh(self) -> None:
        """Show the current state of the selected element."""
        model, ref = self.session.model, self.session.selection
        element = element_at(model, ref)
        self._found = self.diagnosis.findings(model)
        kind = type(element)
        shown = self._form_of
        another = shown is not None and shown[1] != ref and not self._renaming
        if another:
            self._leave_fields()
        if self.form is None or shown is None or shown[0] is not kind:
            self._show_form(kind)
        assert self.form is not None
        if another:
            for editor in self.form.findChildren(FieldEditor):
                editor.forget()
            self.area.verticalScrollBar().setValue(0)
        self._form_of = (kind, ref)
        holder = generating_element(model, ref)
        self._show_head(element, ref, holder)
        self.form.show_element(element, self._context(element, ref, holder is not None))
        lay_out(self.area)

    def finish_typing(self) -> str:
        """Accept text being typed, as Enter would; return why a text cannot be accepted, with its field's title, or "".
        That field gets the keyboard focus."""
        form = self.form
        if form is None:
            return ""
        for edit in form.findChildren(QuantityEdit):
            edit.finish()
        for editor in form.findChildren(FieldEditor):
            if not editor.isHidden() and (problem := editor.refused_text()):
                editor.setFocus(Qt.FocusReason.OtherFocusReason)
                return f"{field_title(editor.field, editor.owner)}: {problem}"
        return ""

    _drawing = "model"

    def changeEvent(self, event: QEvent) -> None:
        """Redraw the element's icon after a change of theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.icon.setPixmap(icon(self._drawing).pixmap(18, 18))

    def _show_form(self, kind: type) -> None:
        self.form, self.area = self.form_of(kind)
        self.pages.setCurrentWidget(self.area)

    def form_of(self, kind: type) -> tuple[ElementForm, QScrollArea]:
        """Return the form of a type of element; it is kept, because creating it takes much longer than filling it."""
        if kind not in self._forms:
            self._forms[kind] = self._make_form(kind)
        return self._forms[kind]

    def _make_form(self, kind: type) -> tuple[ElementForm, QScrollArea]:
        area = QScrollArea(self.pages)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.pages.addWidget(area)
        holder = QWidget(area)
        form = ElementForm(kind, self._put, parent=holder)
        form.setContentsMargins(10, 2, 10, 10)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(form)
        column.addStretch(1)
        area.setWidget(holder)
        return form, area

    _renaming = False
    _leaving = False

    def _leave_fields(self) -> None:
        """Commit text being typed for the previous element before the fields change."""
        focus = self.focusWidget()
        if focus is not None and focus.hasFocus():
            self._leaving = True
            focus.clearFocus()
            self._leaving = False

    def _show_head(self, element: Element, ref: Ref | None, holder: Ref | None) -> None:
        name = getattr(element, "name", "")
        self._drawing = icon_of(ref.collection, element) if ref else "model"
        self.icon.setPixmap(icon(self._drawing).pixmap(18, 18))
        self.title.setText(name)
        self.title.setToolTip(as_tip(name))
        self.what.setText(type_title(type(element)) if ref else "model")
        self.link.setVisible(holder is not None)
        if holder is not None:
            word = "DH chain" if holder.collection == "chains" else "sub-assembly"
            self.what.setText(f"{self.what.text()} of a {word}")
            self.link.setText(f"Edit the {'chain' if word == 'DH chain' else word} “{holder.name}”")
            self.link.setIcon(icon(WORDS[holder.collection]))
        whole = [f for f in self._found if not f.field and (f.collection, f.name) == (ref or ("", ""))]
        words = "\n".join(f"{f.text} {f.remedy}".strip() for f in whole)
        self.general.say(words, whole[0].severity if whole else "")

    def _context(self, element: Element, ref: Ref | None, derived: bool) -> Context:
        model = self.session.model
        promotable = ref is not None and not derived
        return Context(
            model=model,
            settings=self.settings,
            values=model.values(),
            findings=self._findings_by_path(ref),
            notes={"density": mass_text(model, element, self.settings)} if isinstance(element, Body) else {},
            defaults=joint_defaults(self.session, element) if isinstance(element, Joint) else {},
            read_only=derived,
            promote=self._make_parameter if promotable else None,
            suggest=self._free_parameter_name if promotable else None,
        )

    def _findings_by_path(self, ref: Ref | None) -> Mapping[str, tuple[Finding, ...]]:
        found: dict[str, tuple[Finding, ...]] = {}
        assert self.form is not None
        element = element_at(self.session.model, ref)
        about = [*self._found, *(findings_in_rows(element, self._found) if isinstance(element, DHChain) else ())]
        for finding in about:
            if (finding.collection, finding.name) == (ref or ("", "")) and finding.field:
                finding = finding_in_preferred_angles(finding, self.settings.degrees)
                path = re.sub(r"\[(\d+)\]", r".\1", finding.field)
                found[path] = (*found.get(path, ()), finding)
                top = re.split(r"\W", path)[0]
                if top != path:
                    found[top] = (*found.get(top, ()), _with_row(finding, path))
        return found

    def focus_field(self, field: str) -> bool:
        """Put the cursor in a field of the element shown, e.g. "mass"; return False if no field has that name."""
        ref = self.session.selection
        chain = chain_of(self.session.model, ref)
        place = row_and_field_of(chain, ref, field) if chain is not None and ref is not None else None
        if chain is not None and place is not None:
            self.session.select(Ref("chains", chain.name))
        top = re.split(r"\W", field)[0] if place is None else "rows"
        editor = self.form.editors.get(top) if self.form else None
        if place is not None and isinstance(editor, RowsEditor):
            editor = editor.open_row(place[0], re.split(r"\W", place[1])[0])
        if editor is None or editor.isHidden():
            return False
        section = getattr(editor, "section", None)
        if section is not None:
            section.open(True)
        QTimer.singleShot(0, editor, lambda: self.area.ensureWidgetVisible(editor))  # once what opened is laid out
        target = editor.focusProxy() or (section.arrow if section is not None else editor)
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    # --------------------------------------------------------------------------- editing

    def _put(self, name: str, value: Any, gesture: object) -> str:
        """Commit a field of the element shown; return '' or the reason for the refusal."""
        assert self._form_of is not None
        ref = self._form_of[1]
        if ref is not None and not is_present(self.session.model, ref):
            return ""  # another document was opened while something refused stood in the field
        element = element_at(self.session.model, ref)
        if ref is None:
            new_model, problem = replaced(element, name, value)
            return problem or self.commit(f"Change {name} of the model", lambda _m: new_model, gesture)
        if name == "name":
            self._renaming = True
            try:
                return self.commit(
                    f"Rename {WORDS[ref.collection]} {ref.name}",
                    lambda m: edits.rename(m, ref.collection, ref.name, value),
                    gesture,
                    Ref(ref.collection, value),
                )
            finally:
                self._renaming = False
        if isinstance(value, LinkLength):
            return self.commit(
                f"Change length of {ref.name}", lambda _m: resized(self.session, ref.name, value), gesture
            )
        try:
            fields = value if isinstance(value, Together) else together(self.session.model, element, name, value)
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()

        def edit(model: Model) -> Model:
            new = edits.change(model, ref.collection, ref.name, **fields)
            return refreshed(new, self.session.trusted) if ref.collection == "assemblies" and "file" in fields else new

        return self.commit(f"Change {name.replace('_', ' ')} of {ref.name}", edit, gesture)

    def commit(self, label: str, edit: Any, gesture: object = None, select: Ref | None = None) -> str:
        """Make an edit of the document; return the reason of a refusal instead of sending it to the messages."""
        try:
            new = edit(self.session.model)
        except KinetostatError as error:
            return f"{error.what} {error.remedy}".strip()
        refusals: list[str] = []

        def listen(severity: str, text: str) -> None:
            if severity == "error":
                refusals.append(text)

        self.session.message.connect(listen)
        try:
            accepted = self.session.apply(label, lambda _m: new, gesture=gesture, select=select)
        finally:
            self.session.message.disconnect(listen)
        if accepted:
            return ""
        return refusals[-1] if refusals else "The mechanism cannot be built with this value."

    def _free_parameter_name(self, path: str) -> str:
        """Return an unused parameter name for a number of the selected element, e.g. link1_mass."""
        ref = self.session.selection
        row = re.fullmatch(r"rows\.(\d+)\.(.+)", path)
        if row is not None:  # as textbooks number the entries of a DH table
            stem = re.sub(r"\W", "_", "_".join(_name_parts(row.group(2).split("."))))
            return edits.unused_name(self.session.model, "parameters", f"{stem}{int(row.group(1)) + 1}")
        parts = _name_parts(path.split("."))
        stem = re.sub(r"\W", "_", "_".join([ref.name if ref else "value", *parts]))
        return edits.unused_name(self.session.model, "parameters", stem)

    def _make_parameter(self, path: str) -> None:
        ref = self.session.selection
        if ref is None:
            return
        name = self._free_parameter_name(path)
        problem = self.commit(
            f"Make {name} a parameter", lambda m: edits.promote(m, ref.collection, ref.name, path, name)
        )
        if problem:
            self.session.message.emit("error", problem)

    def _edit_holder(self) -> None:
        holder = generating_element(self.session.model, self.session.selection)
        if holder is not None:
            self.session.select(holder)

    # --------------------------------------------------------------------------- hearing

    def _on_document_changed(self, old: State, new: State) -> None:
        if old.model is not new.model and not self._leaving:
            self.refresh()

    def _on_selected(self, ref: Ref | None) -> None:
        if self._form_of is None or self._form_of[1] != ref:
            self.refresh()

    def _on_setting_changed(self, key: str) -> None:
        if not key.startswith("units/"):
            return
        self.refresh()
        for edit in self.findChildren(QuantityEdit):
            edit.refresh()


def make(bench: Workbench) -> PropertyEditor:
    """Create the Properties panel of a window."""
    return PropertyEditor(bench.session, bench.settings)


FIRST_EDIT = ("core.constraints.rest_position", "core.constraints.closed_positions")
"""Modules that are imported with the first edit."""


def prepare_forms(editor: PropertyEditor) -> None:
    """Create the forms of joints and of bodies with a shape, and import the modules for edits, in time slices."""
    model, body = new_elements.attached_body(Model(name="sample"), WORLD)
    joint, link = model.joints[0], model.body(body)
    steps: list[Callable[[], object]] = [partial(import_module, name) for name in FIRST_EDIT]
    for element in (joint, replace(link, shapes=()), link):
        steps += [partial(editor.form_of, type(element)), partial(_fill, editor, model, element)]

    def work(_seconds: float) -> bool:
        steps.pop(0)()
        return not steps

    slices().add(editor, work)


def _fill(editor: PropertyEditor, model: Model, element: Element) -> None:
    """Show a sample in its form, unless the form already shows an element to the user."""
    form, _ = editor.form_of(type(element))
    if form.element is None or form.model is model:
        form.show_element(element, Context(model, editor.settings, model.values()))
