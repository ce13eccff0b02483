"""Protection of a document from loss, independent of widgets: recovery copies, runs saved with the document, changes by
other programs."""
