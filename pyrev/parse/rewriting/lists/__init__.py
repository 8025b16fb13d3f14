"""Lists, as arrays with counts of what is in them."""
