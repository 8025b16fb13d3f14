"""Tests of what an adjoint is and what it keeps."""
