"""The card over the viewport: its words have room, also in a small window and beside answers."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from core.model.edits import edits
from tests.app.conftest import settle

LONG = "yesterday.h5 is a run of another machine, “Stewart platform with servos”: none of its joints is in this model."
"""What a run of a machine that is not open says."""


def labels(card):
    return [label for label in card.findChildren(QLabel) if label.text()]


def test_words_are_not_squeezed_by_answers_in_a_small_window(bench):
    bench.window.resize(1000, 700)
    settle()
    card = bench.window.messages
    card.show_message("error", LONG, {"Open its model": lambda: None, "Discard": lambda: None})
    settle()
    (text,) = labels(card)
    assert text.width() > 0.7 * card.width()
    assert text.height() >= text.heightForWidth(text.width())  # nothing is cut off
    for button in card.findChildren(QPushButton):
        assert button.isVisible()
        assert button.mapTo(card, QPoint(0, 0)).y() >= text.geometry().bottom()
        assert card.rect().contains(button.geometry())


def test_an_answer_is_given_once_and_the_next_message_has_none(bench):
    card, given = bench.window.messages, []
    card.show_message("warning", LONG, {"Yes": lambda: given.append("yes"), "No": lambda: given.append("no")})
    settle()
    card.dismiss_unless_waiting()
    assert card.isVisible()  # it waits for an answer
    no = next(button for button in card.findChildren(QPushButton) if button.text() == "No")
    QTest.mouseClick(no, Qt.MouseButton.LeftButton)
    assert given == ["no"]
    assert not card.isVisible()
    card.show_message("hint", "Short.")
    settle()
    assert not card.findChildren(QPushButton)
    card.dismiss_unless_waiting()
    assert not card.isVisible()


def test_angles_are_said_as_the_person_prefers(bench):
    card, settings = bench.window.messages, bench.window.settings
    cases = {
        "At t = 1 s: crank = 1.5708 rad (90°), slide = 0.2 m.": "At t = 1 s: crank = 90°, slide = 0.2 m.",
        "Another speed (by 0.5 rad/s).": "Another speed (by 28.65°/s).",
        "It is -1e-3 rad away.": "It is -0.0573° away.",
        "A rate of 2 N·m/rad and 3 rad·m stay.": "A rate of 2 N·m/rad and 3 rad·m stay.",
    }
    for said, degrees in cases.items():
        settings.degrees = True
        card.show_message("error", said)
        assert card.text == degrees
        settings.degrees = False
        card.show_message("error", said)
        assert "°" not in card.text
        assert "rad" in card.text


def test_what_the_tool_expects_is_cut_with_dots_in_a_small_window(bench):
    bench.window.resize(1000, 700)
    settle()
    words = bench.window.status.words
    assert words.text().startswith("Rest on a part")
    assert words.elided_text == words.text() or words.elided_text.endswith("…")
    bench.window.status.show_hint("Far too long for a line: " * 20)
    assert words.elided_text.endswith("…")


def test_values_at_the_pointer_have_the_digits_that_mean_something(bench):
    settings = bench.window.settings
    settings.degrees, settings.millimetres = True, False
    cases = {
        (2030.0, "force"): "2030\u202fN",
        (-0.01234567, "torque"): "−0.01235\u202fN·m",
        (0.5, "length"): "0.5000\u202fm",
        (-1e-9, "angle"): "0.0°",
        (123456.0, "force"): "1.235·10⁵\u202fN",
    }
    assert {case: settings.format_value(*case) for case in cases} == cases


def test_an_error_goes_with_the_next_edit_that_is_taken(bench):
    bench.window.run_command("add.link")
    session = bench.session
    session.apply("Name", lambda model: edits.rename(model, "bodies", "link1", "link 1?"))
    assert bench.window.messages.text  # refused, and told
    settle()
    assert bench.window.messages.isVisible()
    session.apply("Name", lambda model: edits.rename(model, "bodies", "link1", "arm"))
    assert bench.window.messages.isHidden()
    bench.window.messages.show_message("error", "Told while something changes.")
    session.apply("Name", lambda model: edits.rename(model, "bodies", "arm", "leg"))
    assert bench.window.messages.isVisible()


def test_the_sign_follows_the_look(bench):
    card = bench.window.messages
    bench.window.run_command("view.look_light")
    card.show_message("hint", "Short.")
    settle()
    (sign,) = (label for label in card.findChildren(QLabel) if not label.pixmap().isNull())

    def lightness():
        image = sign.pixmap().toImage()
        ink = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
        return max(c.lightness() for c in ink if c.alpha() > 200)

    bench.wait(lambda: lightness() < 128)
    bench.window.run_command("view.look_dark")
    bench.wait(lambda: lightness() > 128)
    bench.window.run_command("view.look_light")
    bench.wait(lambda: lightness() < 128)
