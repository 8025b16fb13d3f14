def f(x, y):
    for i in range(len(x)):
        try:
            y[i] = 1.0 / x[i]
        except ZeroDivisionError:
            y[i] = 0.0


# P102_try.py:3:9: P102 this statement is outside the language
#    3 |         try:
#      |         ^^^^ exceptions are handled here
#   help: test for the condition with `if` instead
