"""Event time and processing time of streams: watermarks, what channels report, zones, windows counted in slices.

Nothing here keeps state in Spark or knows of keys.
"""
