"""Rules of windows: into aggregates, Top-N, slices and ranges of time."""
