"""The open document and what must not be lost of it: copies, runs beside it, changes from outside. No widgets."""
