"""Arrow arrays and batches, whatever their columns mean: memory layout, order, keys, bytes.

Nothing here knows about windows, partials or Spark.
"""
