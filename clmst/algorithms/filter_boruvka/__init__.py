"""Borůvka's rounds on ever smaller arrays, light edges first."""
