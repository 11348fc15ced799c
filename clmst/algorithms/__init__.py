"""The algorithms of clmst, each in a folder of its own. The kernels are in ``cl/algorithms``."""
