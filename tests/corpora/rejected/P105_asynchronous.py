async def f(x, gate):
    async with gate:
        x[0] = 1.0
    async for i in gate:
        x[i] = 0.0


# P105_asynchronous.py:1:1: P105 generators and coroutines are outside the language
#    1 | async def f(x, gate):
#      | ^^^^^^^^^^^^^^^^^^^^^ this is a coroutine
#   help: write a plain `def`
#
# P105_asynchronous.py:2:5: P105 generators and coroutines are outside the language
#    2 |     async with gate:
#      |     ^^^^^^^^^^^^^^^^ an asynchronous `with`
#   help: enter it around the call
#
# P105_asynchronous.py:4:5: P105 generators and coroutines are outside the language
#    4 |     async for i in gate:
#      |     ^^^^^^^^^^^^^^^^^^^^ an asynchronous loop
#   help: write a plain `for`
