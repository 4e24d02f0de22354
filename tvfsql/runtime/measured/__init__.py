"""What Spark measured of a query: the figures of its own operators.

The store of Spark's SQL page has them with or without the page. It tells each figure as text, as the page shows it.
"""
