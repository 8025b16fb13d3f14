def f(x, max):
    return x if x < max else max


# P116_parameter.py:1:10: P116 this name is taken
#    1 | def f(x, max):
#      |          ^^^ parameter `max` hides what the derivative calls
#   help: give it another name, such as `max_`
