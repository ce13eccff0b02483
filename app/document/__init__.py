"""The open document, independent of panels: session, undo history, run tree, opening of files, and findings; `kept`
protects it from loss."""
