"""Spark on other machines: where the user asks for it, and how our code gets there.

Loads neither numpy nor Arrow.
"""
