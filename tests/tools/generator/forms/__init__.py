"""Random programs of structures, lists, draws, masks, recursion and their like."""
