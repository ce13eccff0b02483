"""What `kinetostat run` says while nothing can be seen yet."""

from app.cli import run


def test_it_says_why_nothing_moves_yet(monkeypatch, capsys):
    monkeypatch.setattr(run, "PATIENCE", 0.0)
    progress = run._Progress(counts=False)
    progress.waiting.join()
    assert "made once" in capsys.readouterr().err


def test_once_it_moves_nothing_is_prepared_any_more(monkeypatch, capsys):
    monkeypatch.setattr(run, "PATIENCE", 3600.0)
    progress = run._Progress(counts=True)
    for part in (0.25, 1.0):
        progress(part)
    progress.waiting.join()
    said = capsys.readouterr().err
    assert "Preparing" not in said
    assert "25 %" in said
    assert said.endswith("100 %                \n")
