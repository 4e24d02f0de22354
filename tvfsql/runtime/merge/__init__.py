"""Merges partial aggregates of slices or sessions into those of windows: pure computation on Arrow batches.

Batch and streams share it. Nothing here knows about DataFrames, state or watermarks.
"""
