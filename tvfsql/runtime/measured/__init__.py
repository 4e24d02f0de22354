"""Measurements of Spark's own operators for a query.

They come from the store of Spark's SQL page, which exists with or without the page, and has each figure as text.
"""
