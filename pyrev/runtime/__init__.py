"""What is beside generated code: devices, memory, the code cache, compilers."""
