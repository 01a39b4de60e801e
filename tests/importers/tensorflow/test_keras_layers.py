"""Small Keras networks, one test per kind of layer, exported with model.export."""

import unittest

import numpy as np
from keras_models import compare, keras, randomise

L = keras.layers
IMAGE, SEQUENCE = (12, 14, 3), (7, 5)

NETS = {
    "dense": (lambda: [L.Dense(8, "relu"), L.Dense(4, "softmax")], (6,)),
    "conv": (lambda: [L.Conv2D(4, 3, 2, "same", activation="relu"), L.BatchNormalization(), L.MaxPooling2D(2), L.Flatten(), L.Dense(3)], IMAGE),
    "valid_conv": (lambda: [L.Conv2D(4, 3, dilation_rate=2), L.AveragePooling2D(3, 2, "same"), L.GlobalMaxPooling2D()], IMAGE),
    "grouped_conv": (lambda: [L.Conv2D(6, 3, padding="same", groups=3), L.GlobalAveragePooling2D(keepdims=True)], IMAGE),
    "depthwise": (lambda: [L.DepthwiseConv2D(3, 2, "same", depth_multiplier=2), L.SeparableConv2D(4, 3)], IMAGE),
    "transposed": (lambda: [L.Conv2DTranspose(4, 3, 2, "same"), L.Conv2DTranspose(2, 4, 2), L.Conv2DTranspose(2, 2, 3, "same")], IMAGE),
    "conv1d": (lambda: [L.Conv1D(4, 3, padding="causal"), L.Conv1D(4, 3, dilation_rate=2), L.MaxPooling1D(2)], (20, 5)),
    "conv1d_transposed": (lambda: [L.Conv1DTranspose(4, 3, 2), L.GlobalAveragePooling1D()], SEQUENCE),
    "conv3d": (lambda: [L.Conv3D(4, 3, padding="same"), L.MaxPooling3D(2), L.Conv3DTranspose(2, 3, 2, "same"), L.AveragePooling3D(2)], (6, 6, 6, 2)),
    "norms": (lambda: [L.LayerNormalization(), L.GroupNormalization(3), L.UnitNormalization()], (5, 6)),
    "spatial_norm": (lambda: [L.Conv2D(4, 3), L.LayerNormalization(), L.GroupNormalization(2), L.ReLU(6.0)], IMAGE),
    "upsampling": (lambda: [L.UpSampling2D(2), L.UpSampling2D(2, interpolation="bilinear"), L.Cropping2D(3), L.ZeroPadding2D(2)], (4, 5, 3)),
    "resizing": (lambda: [L.Resizing(7, 9), L.Resizing(5, 4, interpolation="nearest"), L.Resizing(8, 8, interpolation="bicubic")], (6, 5, 3)),
    "rescaling": (lambda: [L.Rescaling(1 / 127.5, -1), L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0]), L.CenterCrop(6, 6)], IMAGE),
    "activations": (lambda: [L.Dense(8, a) for a in ("gelu", "silu", "elu", "selu", "softplus", "mish", "hard_sigmoid", "tanh", "relu6", "softsign", "leaky_relu")], (6,)),
    "prelu": (lambda: [L.PReLU(shared_axes=[1, 2]), L.LeakyReLU(0.2), L.ELU(), L.Softmax()], IMAGE),
    "lstm": (lambda: [L.LSTM(6)], SEQUENCE),
    "lstm_sequences": (lambda: [L.LSTM(6, return_sequences=True), L.TimeDistributed(L.Dense(2))], SEQUENCE),
    "gru": (lambda: [L.GRU(6, return_sequences=True), L.GRU(3, go_backwards=True, reset_after=False)], SEQUENCE),
    "simple_rnn": (lambda: [L.SimpleRNN(6, return_sequences=True), L.SimpleRNN(3)], SEQUENCE),
    "bidirectional": (lambda: [L.Bidirectional(L.LSTM(4, return_sequences=True)), L.Bidirectional(L.GRU(3))], SEQUENCE),
    "unrolled": (lambda: [L.LSTM(4, unroll=True)], SEQUENCE),
    "masking": (lambda: [L.Masking(0.0), L.LSTM(4)], SEQUENCE),
    "conv_lstm": (lambda: [L.ConvLSTM2D(3, 3, padding="same")], (4, 6, 6, 2)),
    "shapes": (lambda: [L.Reshape((6, 4)), L.Permute((2, 1)), L.RepeatVector(1) if False else L.Flatten(), L.RepeatVector(3), L.Cropping1D(1)], (24,)),
    "dropout": (lambda: [L.Dropout(0.5), L.GaussianNoise(0.1), L.SpatialDropout1D(0.2), L.Dense(2)], SEQUENCE),
}


class Layers(unittest.TestCase):
    def check(self, layers, shape):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input(shape), *layers()])
        randomise(model)
        x = np.random.default_rng(3).normal(0, 1, (2, *shape)).astype(np.float32)
        compare(self, model, [x])

    def test_attention(self):
        keras.utils.set_random_seed(1)
        x = keras.Input((9, 8))
        y = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
        y = L.LayerNormalization()(L.Add()([x, y]))
        compare(self, keras.Model(x, L.Attention()([y, x])), [np.random.default_rng(3).normal(size=(2, 9, 8)).astype(np.float32)])

    def test_several_inputs_and_outputs(self):
        keras.utils.set_random_seed(1)
        a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
        outputs = {"sum": L.Add()([a, b]), "all": L.Concatenate()([a, L.Multiply()([a, b]), L.Maximum()([a, b])]), "dot": L.Dot(1)([a, b])}
        rng = np.random.default_rng(3)
        compare(self, keras.Model({"a": a, "b": b}, outputs), [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(2)])

    def test_embedding(self):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((6,), dtype="int32"), L.Embedding(20, 5), L.GlobalAveragePooling1D(), L.Dense(3)])
        compare(self, model, [np.random.default_rng(3).integers(0, 20, (2, 6)).astype(np.int32)])

    def test_masked_embedding(self):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((6,), dtype="int32"), L.Embedding(20, 5, mask_zero=True), L.GRU(4), L.Dense(3)])
        compare(self, model, [np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 7, 8, 9]], np.int32)])

    def test_categories(self):
        model = keras.Sequential([keras.Input((4,), dtype="int32"), L.CategoryEncoding(6, output_mode="multi_hot")])
        compare(self, model, [np.array([[1, 2, 3, 0], [5, 5, 1, 2]], np.int32)])
        model = keras.Sequential([keras.Input((3,)), L.Discretization([0.0, 0.5, 1.0])])
        compare(self, model, [np.array([[-1, 0.2, 0.5], [0.7, 1.0, 3]], np.float32)])


for name, (layers, shape) in NETS.items():
    setattr(Layers, f"test_{name}", lambda self, layers=layers, shape=shape: self.check(layers, shape))
