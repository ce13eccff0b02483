"""Units: their SI factors and how they combine."""
