def f(a: "float64[:, :]", s: "float64[:]"):
    for i in range(len(a)):
        s[0] += a[i, i] + a[i]


# P201_added_to_an_element.py:3:9: P201 an array cannot stand here
#    3 |         s[0] += a[i, i] + a[i]
#      |         ^^^^^^^^^^^^^^^^^^^^^^ an array is added to a number
#   help: assign to a slice, or reduce the array first
