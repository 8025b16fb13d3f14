def f(a, s):
    for i in range(len(a)):
        s[0] += a[i, i] + a[i]


# P202_mixed.py:3:27: P202 an array has one number of subscripts
#    3 |         s[0] += a[i, i] + a[i]
#      |                           ^^^^ `a` has 2 subscripts elsewhere, and 1 here
#   help: subscript each axis; views of rows are not supported yet
