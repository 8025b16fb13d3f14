"""What lies under a glacier? The bed along a flow line, from surveys of the surface."""
