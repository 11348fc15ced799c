"""Check on the device whether a caller's CSR can be used without rearrangement."""
