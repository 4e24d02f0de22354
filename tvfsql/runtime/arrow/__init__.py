"""Arrow arrays and batches, whatever their columns mean: their layout in memory, order, keys, bytes.

Nothing here knows of windows, partials or Spark.
"""
