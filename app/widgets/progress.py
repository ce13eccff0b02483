"""A bar of progress that is drawn with everything else."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class ProgressBar(QProgressBar):
    """Qt's own draws the whole window at once for every new value, which a window with a scene in it pays dearly for:
    this one waits for the next picture, and asks for none where a person would see no difference."""

    def setValue(self, value: int) -> None:
        """Show a value at the next picture."""
        if self._looks_like(value):
            return
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)

    def _looks_like(self, value: int) -> bool:
        """Whether what is shown differs from a value by less than a pixel and a per cent; both ends are always told."""
        low, high, shown = self.minimum(), self.maximum(), self.value()
        if value == shown:
            return True
        if not low < value < high or not low < shown < high:
            return False
        same_words = not self.isTextVisible() or 100 * (value - low) // (high - low) == 100 * (shown - low) // (
            high - low
        )
        return same_words and abs(value - shown) * self.width() < high - low
