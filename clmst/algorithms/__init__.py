"""The algorithms: host side of ``cl/algorithms``, one folder each."""
