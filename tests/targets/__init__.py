"""Tests of targets: the CUDA one with and without a GPU, one that prints C."""
