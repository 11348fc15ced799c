"""A forest whose edges come and go, on a device: which edges enter and leave it with a change."""
