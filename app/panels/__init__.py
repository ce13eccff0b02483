"""The panels around the viewport; each knows the session and no other panel."""
