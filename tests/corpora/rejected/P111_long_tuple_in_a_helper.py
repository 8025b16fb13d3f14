def scaled(v, pairs):
    for a, b in pairs:
        v += a
        v *= b
    return v


def f(x, pairs):
    return scaled(x[0], pairs)


only_called = True
arguments = ([1.0], tuple((1.0, float(k)) for k in range(200)))


# P111_long_tuple_in_a_helper.py:2:5: P111 this iteration is outside the language
#    2 |     for a, b in pairs:
#      |     ^^^^^^^^^^^^^^^^^^ this loop over 200 structures cannot be written out
#   help: give an array for each field, or an array of records (at most 256 statements)
