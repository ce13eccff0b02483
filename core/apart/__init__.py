"""Work in processes of ours beside the program: it may crash, hang or hold its interpreter, and the program goes on."""
