"""What is written in other words before it is lowered: Python text in, and out."""
