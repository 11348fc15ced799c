"""Trees and core distances of points that are solved block by block, because no device has all."""
