"""Mathematics on the screen: typeset, folded, highlighted."""
