"""Mathematics on the screen: typeset, collapsed, highlighted."""
