"""Questions asked of a machine, a file each: numbers in, small result values out."""
