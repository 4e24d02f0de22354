"""Spark on other machines: which Spark the user asks for, and how our code reaches its workers.

Loads neither numpy nor Arrow.
"""
