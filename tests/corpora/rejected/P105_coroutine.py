async def f(x):
    return await x


# P105_coroutine.py:1:1: P105 generators and coroutines are outside the language
#    1 | async def f(x):
#      | ^^^^^^^^^^^^^^^ this is a coroutine
#   help: write a plain `def`
#
# P105_coroutine.py:2:12: P105 generators and coroutines are outside the language
#    2 |     return await x
#      |            ^^^^^^^ a value is awaited here
#   help: pass the value as an argument
