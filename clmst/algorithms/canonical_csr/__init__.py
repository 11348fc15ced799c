"""Edges in any order, brought into canonical order on the device."""
