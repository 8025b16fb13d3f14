from functools import lru_cache


def f(x):
    @lru_cache
    def g(y):
        return y * y

    return g(x)


# P102_decorated_helper.py:5:6: P102 this statement is outside the language
#    5 |     @lru_cache
#      |      ^^^^^^^^^ `g` is decorated inside a function
#   help: define it at the top of the module, or without the decorator
