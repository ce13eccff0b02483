"""Edits of a document: functions that take a model and return a changed one."""
