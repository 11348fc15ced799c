"""Code that several algorithms use."""
