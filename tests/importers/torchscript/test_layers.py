"""Modules of torch.nn, traced and scripted."""

import unittest

import torch
from script_case import ScriptCase
from torch import nn


def image(*shape):
    return torch.randn(*shape)


class Layers(ScriptCase):
    def test_linear(self):
        self.both(nn.Linear(5, 3), image(2, 5))

    def test_linear_without_bias(self):
        self.both(nn.Linear(5, 3, bias=False), image(4, 2, 5))

    def test_mlp(self):
        self.both(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=-1)), image(2, 5))

    def test_conv1d(self):
        self.both(nn.Conv1d(3, 4, 3, padding=1, stride=2), image(2, 3, 9))

    def test_conv2d(self):
        self.both(nn.Conv2d(4, 6, 3, padding=(1, 2), stride=2, groups=2, dilation=2), image(2, 4, 12, 11))

    def test_conv2d_same(self):
        self.both(nn.Conv2d(2, 3, 4, padding="same"), image(1, 2, 9, 8))

    def test_conv2d_reflect(self):
        self.both(nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), image(1, 2, 9, 8))

    def test_conv3d(self):
        self.both(nn.Conv3d(2, 3, 2), image(1, 2, 4, 5, 6))

    def test_conv_transpose2d(self):
        self.both(nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), image(2, 3, 5, 6))

    def test_batch_norm(self):
        norm = nn.BatchNorm2d(3)
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        self.both(norm, image(2, 3, 4, 5))

    def test_batch_norm1d(self):
        self.both(nn.BatchNorm1d(3), image(2, 3))

    def test_instance_norm(self):
        self.both(nn.InstanceNorm2d(3, affine=True), image(2, 3, 4, 5))

    def test_layer_norm(self):
        self.both(nn.LayerNorm(6), image(2, 4, 6))

    def test_group_norm(self):
        self.both(nn.GroupNorm(2, 6), image(2, 6, 4, 3))

    def test_pools(self):
        pools = nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2, ceil_mode=True), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.both(pools, image(2, 3, 17, 15))

    def test_adaptive_pool(self):
        self.both(nn.AdaptiveAvgPool2d((3, 2)), image(2, 3, 9, 8))

    def test_activations(self):
        for layer in (nn.GELU(), nn.SiLU(), nn.Hardswish(), nn.Hardsigmoid(), nn.ELU(), nn.LeakyReLU(0.1), nn.Softplus(), nn.Mish(), nn.ReLU6(),
                      nn.PReLU(), nn.Tanh(), nn.Sigmoid(), nn.LogSoftmax(dim=1), nn.Softsign(), nn.SELU(), nn.CELU(0.5), nn.Hardtanh(), nn.GLU(), nn.Tanhshrink()):
            with self.subTest(type(layer).__name__):
                self.both(layer, image(3, 4))

    def test_upsample(self):
        for mode in ("nearest", "bilinear"):
            with self.subTest(mode):
                self.both(nn.Upsample(scale_factor=2.0, mode=mode), image(1, 2, 4, 5))
        self.both(nn.Upsample(size=(7, 9), mode="bilinear", align_corners=True), image(1, 2, 4, 5))

    def test_pixel_shuffle(self):
        self.both(nn.PixelShuffle(2), image(1, 8, 3, 4))

    def test_pads(self):
        for pad in (nn.ZeroPad2d((1, 2, 3, 0)), nn.ReflectionPad2d(2), nn.ReplicationPad2d((1, 0, 2, 1)), nn.ConstantPad1d(2, 3.5)):
            with self.subTest(type(pad).__name__):
                self.both(pad, image(1, 2, 5, 6) if "2d" in type(pad).__name__ else image(1, 2, 5))

    def test_embedding(self):
        self.both(nn.Embedding(10, 4, padding_idx=0), torch.tensor([[1, 2, 0], [9, 3, 3]]))

    def test_dropout(self):
        self.both(nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 2), nn.Dropout2d(0.1)), image(2, 3, 4, 4))

    def test_bilinear(self):
        self.both(nn.Bilinear(3, 4, 5), image(2, 3), image(2, 4))

    def test_cosine_similarity(self):
        self.both(nn.CosineSimilarity(dim=1), image(2, 5), image(2, 5))


class Wrapped(nn.Module):
    """Scripted recurrent layers have several methods forward__N, so PyTorch cannot call them without a wrapper."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, state = self.layer(x)
        return y, state


class Recurrent(ScriptCase):
    def recurrent(self, layer, x):
        self.both(Wrapped(layer), x)

    def test_lstm(self):
        self.recurrent(nn.LSTM(4, 5), image(6, 2, 4))

    def test_lstm_layers(self):
        self.recurrent(nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True), image(2, 6, 4))

    def test_lstm_projection(self):
        self.recurrent(nn.LSTM(4, 6, proj_size=3), image(5, 2, 4))
        self.recurrent(nn.LSTM(4, 6, num_layers=2, proj_size=3, bidirectional=True, batch_first=True), image(2, 5, 4))

    def test_lstm_state(self):
        self.traced(nn.LSTM(4, 5), image(6, 2, 4), (image(1, 2, 5), image(1, 2, 5)))

    def test_lstm_unbatched(self):
        self.recurrent(nn.LSTM(4, 5), image(6, 4))

    def test_gru(self):
        self.recurrent(nn.GRU(4, 5, num_layers=2, bias=False), image(6, 2, 4))

    def test_gru_bidirectional(self):
        self.recurrent(nn.GRU(4, 5, bidirectional=True, batch_first=True), image(2, 6, 4))

    def test_rnn(self):
        self.recurrent(nn.RNN(4, 5, nonlinearity="relu"), image(6, 2, 4))

    def test_cells(self):
        self.both(nn.LSTMCell(4, 5), image(2, 4))
        self.both(nn.GRUCell(4, 5), image(2, 4))
        self.both(nn.RNNCell(4, 5), image(2, 4))


class Attention(ScriptCase):
    def test_multihead(self):
        x = image(2, 5, 8)
        self.both(nn.MultiheadAttention(8, 2, batch_first=True), x, x, x)

    def test_multihead_cross(self):
        self.both(nn.MultiheadAttention(8, 2, kdim=6, vdim=4), image(5, 2, 8), image(7, 2, 6), image(7, 2, 4))

    def test_encoder_layer(self):
        self.both(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), image(2, 5, 8))

    def test_encoder(self):
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True, activation="gelu")
        self.both(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), image(2, 5, 8))

    def test_decoder_layer(self):
        self.both(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), image(2, 5, 8), image(2, 6, 8))

    def test_transformer(self):
        model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        self.both(model, image(2, 5, 8), image(2, 4, 8))


if __name__ == "__main__":
    unittest.main()
