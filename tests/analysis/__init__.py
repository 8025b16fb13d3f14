"""Tests of subscripts, integers, what ISL proves."""
