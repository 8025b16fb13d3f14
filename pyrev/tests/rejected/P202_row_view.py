def f(a, s):
    for i in range(a.shape[0]):
        r = a[i]
        for j in range(a.shape[1]):
            s[i] += r[j] * a[i, j]


# P202_row_view.py:3:13: P202 an array has one number of subscripts
#    3 |         r = a[i]
#      |             ^^^^ `a` has 2 subscripts elsewhere, and 1 here
#   help: subscript each axis; views of rows are not supported yet
