"""Random whole programs: several functions that hand arrays and numbers around."""
