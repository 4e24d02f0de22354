"""DataFrame operations of batch queries: slices to windows, sessions, distinct values; and tables of files.

They apply `merge` to DataFrames. Batch and streams do not import each other.
"""
