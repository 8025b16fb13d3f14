"""Everyday numerical code, as its users write it, and the table of what pyrev does."""
