"""A caller's CSR checked on the device, which says whether it can be used as it is."""
