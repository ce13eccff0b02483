"""Edits of a document: each takes a model and returns another."""
