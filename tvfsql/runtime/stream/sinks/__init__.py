"""Writes micro-batches to files and tables."""
