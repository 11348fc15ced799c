"""What follows from a spanning forest: dendrograms, cuts, clusters."""
