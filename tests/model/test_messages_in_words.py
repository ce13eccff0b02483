"""Messages are words on one line, whatever a file has for names."""

import pytest

from core.errors import FileError


@pytest.mark.parametrize("part", ["what", "where", "remedy"])
def test_a_very_long_name_does_not_fill_the_screen(part):
    error = FileError(**{"what": "It is wrong.", part: f"The name '{'a' * 5000}' ends here."}, file="arm.kst", line=3)
    assert str(error).startswith("arm.kst:3")
    assert "The name 'aaa" in str(error)
    assert "aaa' ends here." in str(error)
    assert len(str(error)) < 1000
    assert len(getattr(error, part)) > 5000  # whoever wants all of it has it


def test_a_message_stands_on_one_line():
    error = FileError("It begins here\n  and ends\there.", where="body 'a\nb'", remedy="Mend it.")
    assert str(error) == "body 'a b': It begins here and ends here. Mend it."
