"""Plain functions and programs that gradients are judged on, and tests over them."""
