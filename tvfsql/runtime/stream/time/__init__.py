"""Event time and processing time of streams: watermarks, channel messages, zones, windows in units of slices.

Nothing here keeps state in Spark, or knows about keys.
"""
