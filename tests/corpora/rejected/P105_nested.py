def f(x):
    async def g(y):
        return y

    return x


# P105_nested.py:2:5: P105 generators and coroutines are outside the language
#    2 |     async def g(y):
#      |     ^^^^^^^^^^^^^^^ a coroutine is defined here
#   help: write a plain `def`
