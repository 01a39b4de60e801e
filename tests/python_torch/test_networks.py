"""torch.compile(backend="tern") on the networks of bench/torch_compile.py, in smaller sizes."""

import pathlib
import sys
import unittest

import torch

import tern.torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import torch_networks  # noqa: E402


class Networks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        torch._dynamo.reset()

    def check(self, model, *cases):
        run = torch.compile(model, backend="tern", options={"fallback": False})
        with torch.no_grad():
            for inputs in cases:
                torch.testing.assert_close(torch_networks.tensors(run(**inputs)), torch_networks.tensors(model(**inputs)), atol=2e-4, rtol=2e-4)

    def test_resnet18(self):
        model, inputs = torch_networks.resnet18(64)
        self.check(model, inputs, {"pixel_values": torch.randn(3, 3, 64, 64)}, {"pixel_values": torch.randn(2, 3, 64, 64)})

    def test_bert_with_several_lengths(self):
        model, inputs = torch_networks.bert_base(2, 128)
        self.check(model, inputs, *(torch_networks.bert_base(1, tokens)[1] for tokens in (16, 33, 64)))

    def test_gpt_with_several_lengths(self):
        model, inputs = torch_networks.small_gpt(2, 64)
        self.check(model, inputs, *({"input_ids": torch.randint(0, 8000, (2, tokens))} for tokens in (7, 19)))

    def test_decoder_of_torch(self):
        layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
        run = torch.compile(model, backend="tern", options={"fallback": False})
        x = torch.randn(2, 10, 32)
        with torch.no_grad():
            mask = torch.nn.Transformer.generate_square_subsequent_mask(10)
            torch.testing.assert_close(run(x, mask=mask, is_causal=True), model(x, mask=mask, is_causal=True), atol=1e-4, rtol=1e-4)

    def test_recurrent_networks(self):
        for kind in (torch.nn.LSTM, torch.nn.GRU):
            model, x = kind(8, 16, 2, batch_first=True).eval(), torch.randn(2, 5, 8)
            run = torch.compile(model, backend="tern")  # torch.compile leaves these modules to torch unless told otherwise
            with torch.no_grad():
                torch.testing.assert_close(run(x), model(x))


if __name__ == "__main__":
    unittest.main()
