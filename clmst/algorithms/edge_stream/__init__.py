"""Generate, filter and reduce the edges of a stream on a device."""
