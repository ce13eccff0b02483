"""What `kinetostat run` says while it waits, and counts while it moves."""

from app.cli import run


def test_a_run_counts_up_on_a_terminal(capsys):
    progress = run._Progress(counts=True)
    for part in (0.25, 1.0):
        progress(part)
    said = capsys.readouterr().err
    assert "25 %" in said
    assert said.endswith("100 %                \n")
