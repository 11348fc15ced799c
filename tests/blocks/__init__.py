"""Points that are solved block by block."""
