"""Sketches: of quantiles (KLL) and of distinct values."""
