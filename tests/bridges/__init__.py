"""The bridges to other libraries, on the same five functions."""
