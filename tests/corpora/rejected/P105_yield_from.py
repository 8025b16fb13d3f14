def f(x):
    yield from x


# P105_yield_from.py:2:5: P105 generators and coroutines are outside the language
#    2 |     yield from x
#      |     ^^^^^^^^^^^^ values are yielded here
#   help: write them to an array
