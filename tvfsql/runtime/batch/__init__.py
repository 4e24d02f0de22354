"""DataFrame operations of batch queries: slices to windows, sessions, distinct values.

They apply `merge` to DataFrames. Batch and streams do not import each other.
"""
