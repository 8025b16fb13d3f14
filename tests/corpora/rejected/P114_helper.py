square = eval(compile("lambda v: v * v", "<typed>", "eval"))


def f(x):
    return square(x)


# P114_helper.py:5:12: P114 the source of this function cannot be read
#    5 |     return square(x)
#      |            ^^^^^^^^^ `<lambda>` was defined where no file keeps its text (<typed>)
#   help: define it in a file, a notebook cell or with a `linecache` entry
