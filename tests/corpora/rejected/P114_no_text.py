def f(x):
    return x


f = eval(compile("lambda x: x * x", "<typed>", "eval"))


# P114 the source of this function cannot be read
#   because `<lambda>` was defined where no file keeps its text (<typed>)
#   help: define it in a file, a notebook cell or with a `linecache` entry
