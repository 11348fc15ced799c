"""OpenCL devices: finding them, knowing what they can do, building programs, running kernels."""
