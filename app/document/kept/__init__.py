"""What must not be lost of a document: copies, runs beside it, changes from outside. No widgets."""
