"""Tests of what is made for a call, in which order, and how long it is kept."""
