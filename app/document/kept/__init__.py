"""What must not be lost of a document, without widgets: copies, runs beside it, changes from outside."""
