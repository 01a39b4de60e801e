"""Small networks with control flow, indexing and shared weights."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class MLP(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(6, 16, activation="relu"), nn.Dense(16, 16), nn.LeakyReLU(0.1), nn.Dense(16, 16),
                                        nn.ELU(), nn.Dense(16, 8, has_bias=False), nn.Sigmoid(), nn.Dense(8, 3), nn.LogSoftmax())

    def construct(self, x):
        return self.layers(x)


class SharedWeights(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4)
        self.table = Parameter(Tensor(np.eye(4, dtype=np.float32) * 2), name="table")

    def construct(self, x, y):
        return self.layer(self.layer(x)) + self.layer(y), ops.matmul(x, self.table), ops.matmul(self.table, self.table)


class Branches(nn.Cell):
    def construct(self, x):
        if ops.sum(x) > 0:
            y = x * 2
        else:
            y = ops.exp(x) - 1
        if ops.ReduceMax()(x, ()) > 1.5:
            y = y + 7
        return y * y


class NestedBranches(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(3, 3), nn.Dense(3, 3)

    def construct(self, x, flag):
        if flag > 0:
            if ops.sum(x) > 1:
                y, z = self.a(x), x
            else:
                y, z = self.b(x), x + 1
        else:
            y, z = x, x * 2
        return y, z


class WhileLoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(4, 4)

    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            x = ops.tanh(self.layer(x))
            i = i + 1
        return x, i


class NestedLoops(nn.Cell):
    def construct(self, x, n):
        i = Tensor(0, ms.int32)
        while i < n:
            j = Tensor(0, ms.int32)
            while j < i:
                x = x * 1.5 + 0.1
                j = j + 1
            if ops.sum(x) > 10:
                x = x / 2
            i = i + 1
        return x


class BreakingLoop(nn.Cell):
    def construct(self, x):
        n = Tensor(0, ms.int32)
        while n < 20:
            x = x * 2
            n = n + 1
            if ops.sum(x) > 50:
                break
        return x, n


class ForLoop(nn.Cell):
    def construct(self, x):
        y = x
        for i in range(3):
            y = y * x + i
        return y


class Half(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4)).to_float(ms.float16)

    def construct(self, x):
        return self.layers(x).astype(ms.float32)


class Indexing(nn.Cell):
    def construct(self, x, index):
        y = x.copy()
        y[0, 1:3] = 5.0
        return x[index], x[:, index], y, x[1:, None, ..., 0], x[x > 0.5].sum(), ops.where(x > 0, x, -x)
