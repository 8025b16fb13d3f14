"""Pictures: the data flow of a program, and how a scatter became a gather."""
