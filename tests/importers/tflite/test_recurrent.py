"""Recurrent layers, against LiteRT: one run of each layer, and several runs of an LSTM, whose state lives between runs."""

import unittest

import numpy as np
from lite import interpreter
from op_case import OpCase
from writer import Graph, Operator, Writer, options
from writer import Tensor as T

RNG = np.random.default_rng(3)


def w(*shape):
    return T(shape, "float32", RNG.standard_normal(shape).astype("float32") * 0.4)


def i8(*shape):
    return T(shape, "int8", RNG.integers(-127, 127, shape), q=(0.01, 0))


def state(*shape):
    return T(shape, variable=True)


class Recurrent(OpCase):
    def check_layer(self, x, make, out_shape, rtol=1e-3, atol=1e-5):
        """Compares one run of a model of one operator. `make` returns the operator for the input x and the list of outputs y."""
        y = [T(s) for s in out_shape]
        op = make(x, y)
        self.check_model(Writer([Graph([op], [x], y)]).bytes(), x, rtol, atol)

    def check_model(self, content, x, rtol, atol):
        model = self.path(content)
        self.compare(model, [x.random(np.random.default_rng(1))], rtol=rtol, atol=atol)

    def lstm_inputs(self, x, make=w, units=4, features=3, cifg=False, peephole=False, projection=0, norm=False, batch=2):
        out = projection or units
        gates = [None if cifg and i == 0 else make(units, features) for i in range(4)]
        recurrent = [None if cifg and i == 0 else make(units, out) for i in range(4)]
        holes = [None if not peephole or (cifg and i == 0) else make(units) for i in range(3)]
        biases = [None if cifg and i == 0 else w(units) for i in range(4)]
        tail = [make(projection, units) if projection else None, w(projection) if projection else None, state(batch, out), state(batch, units)]
        norms = [None if cifg and i == 0 else w(units) for i in range(4)] if norm else []
        return [x, *gates, *recurrent, *holes, *biases, *tail, *norms]

    def test_unidirectional_lstm(self):
        for kwargs in ({}, {"cifg": True}, {"peephole": True}, {"projection": 3}, {"norm": True}, {"cifg": True, "peephole": True, "projection": 3, "norm": True}):
            for major in (False, True):
                for clip in (0.0, 0.3):
                    x = T([5, 2, 3] if major else [2, 5, 3])
                    opts = options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, cellClip=clip, projClip=clip, timeMajor=major)
                    with self.subTest(kwargs=kwargs, major=major, clip=clip):
                        self.check_layer(x, lambda x, y, k=kwargs, o=opts: Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", self.lstm_inputs(x, **k), y, o), [[1, 1, 1]])

    def test_hybrid_lstm(self):
        for asymmetric in (False, True):
            x = T([2, 5, 3])
            opts = options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, asymmetricQuantizeInputs=asymmetric)
            self.check_layer(x, lambda x, y, o=opts: Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", self.lstm_inputs(x, i8), y, o), [[1, 1, 1]])

    def test_lstm(self):
        for kwargs in ({}, {"cifg": True}, {"peephole": True, "projection": 3}):
            opts = options("LSTMOptions", fusedActivationFunction=4, kernelType=0)
            self.check_layer(T([2, 3]), lambda x, y, k=kwargs, o=opts: Operator("LSTM", self.lstm_inputs(x, **k), y, o), [[1, 1]])

    def test_basic_lstm(self):
        x, h, c = T([2, 3]), T([2, 4]), T([2, 4])
        y = [T([2, 4]), T([2, 4]), T([2, 7]), T([2, 16])]
        op = Operator("LSTM", [x, h, w(16, 7), w(16), c], y, options("LSTMOptions", fusedActivationFunction=4, kernelType=1))
        model = self.path(Writer([Graph([op], [x, h, c], y[:2])]).bytes())
        rng = np.random.default_rng(1)
        self.compare(model, [t.random(rng) for t in (x, h, c)])

    def bidirectional(self, x, y, merge, aux=None, aux_weights=False):
        # LiteRT reads uninitialized memory if a batch of several sequences is not time-major.
        forward, backward = self.lstm_inputs(x, batch=1), self.lstm_inputs(x, batch=1)
        inputs = [x, *forward[1:18], *backward[1:18], *forward[18:20], *backward[18:20], aux]
        inputs += [w(4, 3) for _ in range(8)] if aux_weights else [None] * 8
        return Operator("BIDIRECTIONAL_SEQUENCE_LSTM", inputs, y, options("BidirectionalSequenceLSTMOptions", fusedActivationFunction=4, mergeOutputs=merge, timeMajor=False))

    def test_bidirectional_lstm(self):
        self.check_layer(T([1, 5, 3]), lambda x, y: self.bidirectional(x, y, True), [[1, 1, 1]])
        self.check_layer(T([1, 5, 3]), lambda x, y: self.bidirectional(x, y, False), [[1, 1, 1], [1, 1, 1]])

    def test_bidirectional_lstm_with_auxiliary_input(self):
        for weights in (False, True):
            x, aux, y = T([1, 5, 3]), T([1, 5, 3]), [T([1, 1, 1]), T([1, 1, 1])]
            op = self.bidirectional(x, y, False, aux, weights)
            model = self.path(Writer([Graph([op], [x, aux], y)]).bytes())
            rng = np.random.default_rng(1)
            self.compare(model, [x.random(rng), aux.random(rng)])

    def test_rnn(self):
        for act in (0, 1, 4):
            opts = options("RNNOptions", fusedActivationFunction=act)
            self.check_layer(T([2, 3]), lambda x, y, o=opts: Operator("RNN", [x, w(4, 3), w(4, 4), w(4), state(2, 4)], y, o), [[1, 1]])
            for major in (False, True):
                opts = options("SequenceRNNOptions", fusedActivationFunction=act, timeMajor=major)
                self.check_layer(T([5, 2, 3] if major else [2, 5, 3]),
                           lambda x, y, o=opts: Operator("UNIDIRECTIONAL_SEQUENCE_RNN", [x, w(4, 3), w(4, 4), w(4), state(2, 4)], y, o), [[1, 1, 1]])
        opts = options("SequenceRNNOptions", fusedActivationFunction=4)
        self.check_layer(T([2, 5, 3]), lambda x, y, o=opts: Operator("UNIDIRECTIONAL_SEQUENCE_RNN", [x, i8(4, 3), i8(4, 4), w(4), state(2, 4)], y, o), [[1, 1, 1]])

    def test_bidirectional_rnn(self):
        for merge in (False, True):
            opts = options("BidirectionalSequenceRNNOptions", fusedActivationFunction=4, mergeOutputs=merge)
            self.check_layer(T([2, 5, 3]), lambda x, y, o=opts: Operator("BIDIRECTIONAL_SEQUENCE_RNN", [
                x, w(4, 3), w(4, 4), w(4), state(2, 4), w(4, 3), w(4, 4), w(4), state(2, 4), None, None, None], y, o), [[1, 1, 1]] * (1 if merge else 2))

    def test_svdf(self):
        for rank in (1, 2):
            for act in (0, 1):
                opts = options("SVDFOptions", rank=rank, fusedActivationFunction=act)
                self.check_layer(T([2, 3]), lambda x, y, r=rank, o=opts: Operator("SVDF", [x, w(4 * r, 3), w(4 * r, 6), w(4), state(2, 24 * r)], y, o), [[1, 1]])

    def test_states_live_between_runs(self):
        try:
            import tern
        except ImportError:
            self.skipTest("the Python package tern is not installed here")
        x, y = T([1, 2, 3]), [T([1, 1, 1])]
        op = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", self.lstm_inputs(x, batch=1), y, options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4))
        model = self.path(Writer([Graph([op], [x], y)]).bytes())
        lite, rng = interpreter(model), np.random.default_rng(1)
        lite.allocate_tensors()
        session = tern.Predictor(str(model))
        for _ in range(3):
            array = x.random(rng)
            lite.set_tensor(lite.get_input_details()[0]["index"], array)
            lite.invoke()
            want = lite.get_tensor(lite.get_output_details()[0]["index"])
            np.testing.assert_allclose(session.run({session.input_names[0]: array})[session.output_names[0]], want, rtol=1e-3, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
