square = eval("lambda v: v * v")


def f(x):
    return square(x)


# P114_helper.py:5:12: P114 the source of this function cannot be read
#    5 |     return square(x)
#      |            ^^^^^^^^^ `<lambda>` was defined where no file keeps its text (<string>)
#   help: define it in a file, a notebook cell or with a `linecache` entry
