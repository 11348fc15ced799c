"""Host side of the reusable device primitives in ``cl/primitives``."""
