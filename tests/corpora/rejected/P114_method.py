class Model:
    rate = 0.5

    @classmethod
    def step(cls, x):
        return x * cls.rate


f = Model.step


# P114 the source of this function cannot be read
#   because `step` is a method of a class
#   help: write a function of the numbers and arrays that it needs, and call that from the method
