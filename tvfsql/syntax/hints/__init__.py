"""Hints in comments, `/*+ ... */`: where they stand in a script, and what they change of its statement."""
