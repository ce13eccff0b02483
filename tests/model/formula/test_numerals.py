"""Numbers for reading, and back."""

import pytest

from core.model.formula.numerals import format_readable, readable_to_input


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("-5.4e-05", "−5.4·10⁻⁵"),
        ("1e+07", "10⁷"),
        ("-1e-12", "−10⁻¹²"),
        ("2.50e+00", "2.50"),
        ("0.0e+00", "0"),
        ("-2.5", "−2.5"),
        ("12", "12"),
    ],
)
def test_powers_of_ten_are_written_out(printed, shown):
    assert format_readable(printed) == shown
    assert float(readable_to_input(shown)) == float(printed)


def test_formulas_keep_what_is_no_number():
    assert readable_to_input("2·10⁻³ + l1·2 − 10⁵ m") == "2e-3 + l1·2 - 1e5 m"
