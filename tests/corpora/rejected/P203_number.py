def f(x):
    s = 1.0
    for i in range(3):
        s[i] = x


# P203_number.py:2:5: P203 a name is either a number or an array
#    2 |     s = 1.0
#      |     ^ `s` is a number here, and an array elsewhere
#   help: give the number and the array different names
