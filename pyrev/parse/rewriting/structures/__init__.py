"""Tuples, dictionaries, records and objects, as a name for each of their fields."""
