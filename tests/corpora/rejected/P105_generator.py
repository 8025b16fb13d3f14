def f(x):
    for i in range(x.shape[0]):
        yield x[i]


# P105_generator.py:3:9: P105 generators and coroutines are outside the language
#    3 |         yield x[i]
#      |         ^^^^^^^^^^ a value is yielded here
#   help: write the values to an array
