"""How generated text is shown: in colour, beside the user's lines, compared."""
