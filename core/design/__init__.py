"""Machines found by optimisation: path synthesis from an atlas, and designs of any machine by what people ask of it."""
