def g(x):
    total = 0.0
    for i0 in range(1):
        for i1 in range(1):
            for i2 in range(1):
                for i3 in range(1):
                    for i4 in range(1):
                        for i5 in range(1):
                            for i6 in range(1):
                                for i7 in range(1):
                                    for i8 in range(1):
                                        for i9 in range(1):
                                            for i10 in range(1):
                                                total += x * x
    return total


def f(x):
    s = 0.0
    for i0 in range(1):
        for i1 in range(1):
            for i2 in range(1):
                for i3 in range(1):
                    for i4 in range(1):
                        for i5 in range(1):
                            for i6 in range(1):
                                for i7 in range(1):
                                    for i8 in range(1):
                                        for i9 in range(1):
                                            for i10 in range(1):
                                                s += g(x[i0])
    return s


# P305_loops_through_helpers.py:18:1: P305 this is nested too deep
#   18 | def f(x):
#      | ^^^^^^^^^ generated code is nested deeper than Python reads (too many statically nested blocks)
#   help: unite loops or conditions, or differentiate it in parts
