"""Sound and other sequences."""

from torch import nn

from .network import Input, Network, transformers_network


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell(512, 512, num_layers=2, batch_first=False)

    def forward(self, x):
        return self.cell(x)[0]


STEPS = (Input("x", (("length", 64), 1, 512)),)

NETWORKS = [
    transformers_network("whisper_encoder", "WhisperModel", (Input("input_features", (("batch", 1), 80, 3000)),),
                         ("last_hidden_state",), part=lambda model: model.encoder),
    Network("lstm", lambda: Recurrent(nn.LSTM), STEPS, gain=1.0),
    Network("gru", lambda: Recurrent(nn.GRU), STEPS, gain=1.0),
]
