"""The machine and the local Spark: find a Java, start Spark, check the installation, translate failures, print rows.

Nothing here touches the rows of a query before they are printed.
"""
