"""Small SciPy matrices on CPUs: from the caller's arrays to the forest in one launch."""
