"""Misused calls of every public entry: what each does with arguments of the wrong kind."""
