"""Tests of the calls that users make."""
