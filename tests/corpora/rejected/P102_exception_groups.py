def f(x):
    y = 0.0
    try:
        y = 1.0 / x
    except* ZeroDivisionError:
        y = 1.0
    return y


# P102_exception_groups.py:3:5: P102 this statement is outside the language
#    3 |     try:
#      |     ^^^^ exceptions are handled here
#   help: test for the condition with `if` instead
