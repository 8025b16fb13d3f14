class Model:
    rate = 0.5

    def step(self, x):
        return x * self.rate


f = Model.step


# P104_method.py:4:14: P104 this kind of parameter is outside the language
#    4 |     def step(self, x):
#      |              ^^^^ `step` is a method: `self` is an object
#   help: write a function of the numbers and arrays that it needs, and call that from the method
