"""Bring edges that are given in any order into canonical order, on the device."""
