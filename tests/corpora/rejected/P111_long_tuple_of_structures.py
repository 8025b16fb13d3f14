def f(x, pairs):
    for a, b in pairs:
        x[0] += a
        x[0] *= b


only_called = True
arguments = ([1.0], tuple((1.0, float(k)) for k in range(200)))


# P111_long_tuple_of_structures.py:2:5: P111 this iteration is outside the language
#    2 |     for a, b in pairs:
#      |     ^^^^^^^^^^^^^^^^^^ this loop over 200 structures cannot be written out
#   help: give an array for each field, or an array of records (at most 256 statements)
