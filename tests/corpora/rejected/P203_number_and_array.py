def f(n):
    s = 0.0
    for i in range(n):
        s += 1.0
    return s[0]


# P203_number_and_array.py:2:5: P203 a name is either a number or an array
#    2 |     s = 0.0
#      |     ^ `s` is a number here, and an array elsewhere
#   help: give the number and the array different names
