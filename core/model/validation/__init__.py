"""Checks of a document for errors and doubtful values before anything is computed."""
