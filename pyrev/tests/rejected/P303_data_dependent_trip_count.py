def f(x, s):
    for i in range(len(x)):
        n = int(x[i] * 3.0)
        for j in range(n):
            s[i] = s[i] * s[i] + x[i]


# P303_data_dependent_trip_count.py:4:9: P303 a value that the gradient needs cannot be recorded
#    4 |         for j in range(n):
#      |         ^^^^^^^^^^^^^^^^^^ values inside this loop over `j` must be recorded, and how often it runs is data
#   help: give the loop a bound made of sizes and test inside it
