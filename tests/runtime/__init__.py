"""Tests of memory, threads, lifetimes."""
