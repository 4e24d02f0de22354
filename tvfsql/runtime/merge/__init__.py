"""How partial aggregates of slices or sessions become those of windows: pure computation on Arrow batches.

Batch and streams share it. Nothing here knows of DataFrames, of state or of watermarks.
"""
