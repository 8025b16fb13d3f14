"""What is known about a program before it is differentiated or scheduled."""
