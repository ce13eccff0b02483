"""Worker processes: subprocesses that may crash, hang or block their interpreter without stopping the program."""
