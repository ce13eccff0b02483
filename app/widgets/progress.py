"""A bar of progress that is drawn with everything else."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class ProgressBar(QProgressBar):
    """Qt's own draws the whole window at once for every new value, which a window with a scene in it pays dearly for:
    this one waits for the next picture."""

    def setValue(self, value: int) -> None:
        """Show a value at the next picture."""
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)
