"""What a user reads about a derivative: explanations and pictures."""
