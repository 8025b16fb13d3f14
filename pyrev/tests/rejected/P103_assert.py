def f(x):
    assert x > 0
    return 1.0 / x


# P103_assert.py:2:5: P103 this control flow is not supported yet
#    2 |     assert x > 0
#      |     ^^^^^^^^^^^^ `assert` is not supported yet
#   help: check the arguments before the call; this comes in a later version
