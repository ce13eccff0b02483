"""The open document, independent of panels: session, history, run tree, opening and findings; `kept` saves it from
loss."""
