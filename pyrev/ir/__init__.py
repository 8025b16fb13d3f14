"""The loop-nest IR: its nodes, how they look, and what is known about them alone."""
