"""Top-N: of windows, and of all rows so far."""
