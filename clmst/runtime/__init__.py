"""OpenCL: find devices, learn what they can do, build programs, run kernels, copy data."""
