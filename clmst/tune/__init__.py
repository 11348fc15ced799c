"""Finding the shape of kernels that is quickest on a device: what `clmst tune` runs."""
