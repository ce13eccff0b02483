"""The open document, without panels: session, history, run tree, opening, findings; what must not be lost is `kept`."""
