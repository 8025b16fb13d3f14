"""Tests of pictures and reports."""
