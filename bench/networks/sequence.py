"""Networks over audio and other sequences."""

from torch import nn

from .network import Input, Network, transformers_network


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell(512, 512, num_layers=2, batch_first=False)

    def forward(self, x):
        return self.cell(x)[0]


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norms = heads, nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.projections = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        query, key, value = (split(project(x)) for project in self.projections[:3])
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        return self.projections[3](mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norms[0](x))
        return x + self.dense(self.norms[1](x))


def encoder(width=384):
    """Returns a transformer encoder for sequences of any length, without embedding and mask."""
    return nn.Sequential(*(EncoderLayer(width, 6) for _ in range(4)))


STEPS = (Input("x", (("length", 64), 1, 512)),)

NETWORKS = [
    transformers_network("whisper_encoder", "WhisperModel", (Input("input_features", (("batch", 1), 80, 3000)),),
                         ("last_hidden_state",), part=lambda model: model.encoder),
    Network("lstm", lambda: Recurrent(nn.LSTM), STEPS, gain=1.0),
    Network("gru", lambda: Recurrent(nn.GRU), STEPS, gain=1.0),
    Network("encoder", encoder, (Input("x", (("batch", 1), ("length", 128), 384)),), gain=1.0, for_growth=True),
]
