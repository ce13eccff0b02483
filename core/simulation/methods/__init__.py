"""Methods of integration, one a file, their tableaux as data."""
