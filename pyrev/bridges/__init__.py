"""Loop functions as functions of other libraries."""
