def f(x, lock):
    with lock:
        x[0] = 1.0


# P102_with.py:2:5: P102 this statement is outside the language
#    2 |     with lock:
#      |     ^^^^^^^^^^ a context manager is entered here
#   help: enter it around the call of the function
