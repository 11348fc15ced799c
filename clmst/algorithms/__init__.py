"""The algorithms, each in a folder of its own. Their kernels are in ``cl/algorithms``."""
