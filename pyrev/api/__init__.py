"""What users call, and what they get."""
