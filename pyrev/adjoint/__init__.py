"""Differentiation of the IR: the rule table and the passes that read it."""
