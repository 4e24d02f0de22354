"""DataFrame operations of batch queries: slices to windows, sessions, distinct values.

They wrap what `merge` computes. Streams import nothing from here, and nothing here imports streams.
"""
