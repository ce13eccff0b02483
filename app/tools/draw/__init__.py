"""The Draw tool: linkages sketched by hand in a working plane, from pin to pin."""
