"""Random legal functions of the whole language, their judge and their shrinker."""
