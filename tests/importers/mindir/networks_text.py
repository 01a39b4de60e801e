"""Small transformers and recurrent networks, written with mindspore.nn."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops


class Attention(nn.Cell):
    def __init__(self, size, heads, causal=False):
        super().__init__()
        self.heads, self.size, self.causal = heads, size, causal
        self.q, self.k, self.v, self.out = (nn.Dense(size, size) for _ in range(4))
        self.softmax = nn.Softmax()
        self.scale = float((size // heads) ** -0.5)

    def split(self, x):
        batch, length, _ = x.shape
        return x.reshape((batch, length, self.heads, self.size // self.heads)).transpose((0, 2, 1, 3))

    def construct(self, x, memory):
        batch, length, _ = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(memory)), self.split(self.v(memory))
        scores = ops.BatchMatMul(transpose_b=True)(q, k) * self.scale
        if self.causal:
            mask = ops.tril(ops.ones((length, length), ms.float32))
            scores = scores + (1.0 - mask) * -10000.0
        y = ops.BatchMatMul()(self.softmax(scores), v)
        return self.out(y.transpose((0, 2, 1, 3)).reshape((batch, length, self.size)))


class Block(nn.Cell):
    def __init__(self, size, heads, causal=False, cross=False, approximate=True):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((size,)), nn.LayerNorm((size,))
        self.attention = Attention(size, heads, causal)
        self.cross = Attention(size, heads) if cross else None
        self.fc1, self.fc2 = nn.Dense(size, 2 * size), nn.Dense(2 * size, size)
        self.gelu = nn.GELU(approximate)

    def construct(self, x, memory=None):
        y = self.norm1(x)
        x = x + self.attention(y, y)
        if self.cross is not None:
            x = x + self.cross(x, memory)
        return x + self.fc2(self.gelu(self.fc1(self.norm2(x))))


class Bert(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words, self.positions, self.kinds = nn.Embedding(50, 16), nn.Embedding(12, 16), nn.Embedding(2, 16)
        self.norm = nn.LayerNorm((16,), epsilon=1e-12)
        self.blocks = nn.SequentialCell(Block(16, 4, approximate=False), Block(16, 4, approximate=False))
        self.pooler = nn.Dense(16, 16, activation="tanh")

    def construct(self, ids, kinds):
        length = ids.shape[1]
        positions = ops.arange(0, length, 1)
        x = self.norm(self.words(ids) + self.positions(positions) + self.kinds(kinds))
        x = self.blocks(x)
        return x, self.pooler(x[:, 0])


class GPT(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.positions = Parameter(Tensor(np.random.default_rng(1).normal(0, 1, (10, 16)).astype(np.float32)), name="wpe")
        self.blocks = nn.SequentialCell(Block(16, 2, causal=True), Block(16, 2, causal=True))
        self.norm = nn.LayerNorm((16,))

    def construct(self, ids):
        x = self.words(ids) + self.positions[: ids.shape[1]]
        x = self.norm(self.blocks(x))
        return ops.matmul(x, self.words.embedding_table.T)


class ViT(nn.Cell):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4, pad_mode="valid", has_bias=True)
        self.token = Parameter(Tensor(np.full((1, 1, 16), 0.1, np.float32)), name="cls")
        self.positions = Parameter(Tensor(np.random.default_rng(2).normal(0, 1, (1, 17, 16)).astype(np.float32)), name="pos")
        self.blocks = nn.SequentialCell(Block(16, 4), Block(16, 4))
        self.head = nn.Dense(16, 5)

    def construct(self, x):
        x = self.patch(x)
        batch, size, h, w = x.shape
        x = x.reshape((batch, size, h * w)).swapaxes(1, 2)
        x = ops.concat((ops.tile(self.token, (batch, 1, 1)), x), 1) + self.positions
        return self.head(self.blocks(x)[:, 0])


class Translator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(20, 16), nn.Embedding(20, 16)
        self.encoder = Block(16, 2)
        self.decoder = Block(16, 2, causal=True, cross=True)
        self.head = nn.Dense(16, 20)

    def construct(self, source, target):
        memory = self.encoder(self.source(source))
        return ops.log_softmax(self.head(self.decoder(self.target(target), memory)), -1)


class NnTransformer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1)

    def construct(self, source, target):
        return self.decoder(target, self.encoder(source))


class Recurrent(nn.Cell):
    def __init__(self, kind, **options):
        super().__init__()
        self.words = nn.Embedding(30, 6)
        self.layer = kind(6, 8, batch_first=True, **options)
        self.head = nn.Dense(16 if options.get("bidirectional") else 8, 3)

    def construct(self, ids):
        y, _ = self.layer(self.words(ids))
        return self.head(y[:, -1]), y


class LstmWithState(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 5, num_layers=2, has_bias=True)

    def construct(self, x, h, c):
        y, (hn, cn) = self.layer(x, (h, c))
        return y, hn, cn


class Cells(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(4, 4), nn.GRUCell(4, 4), nn.RNNCell(4, 4)

    def construct(self, x, h, c):
        h, c = self.lstm(x, (h, c))
        h = self.gru(x, h)
        return self.rnn(x, h), c


class DynamicTransformer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.block = Block(16, 2, causal=False)

    def construct(self, ids):
        return self.block(self.words(ids))
