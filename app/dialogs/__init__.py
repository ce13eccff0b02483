"""Windows that explain: help, keyboard map, about, licences."""
