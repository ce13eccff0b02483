"""Protection of a document from loss, independent of widgets: recovery copies, runs saved with it, changes by other
programs."""
