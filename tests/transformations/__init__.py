"""Sketches of loop transformations: what adding one takes."""
