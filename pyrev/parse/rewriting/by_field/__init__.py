"""Tuples that are compared and kept in lists, with a name for each of their fields."""
