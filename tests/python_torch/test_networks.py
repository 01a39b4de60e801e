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

    def test_encoder_of_torch(self):
        x, hidden = torch.randn(2, 10, 32), torch.tensor([[False] * 7 + [True] * 3, [False] * 10])
        causal = torch.nn.Transformer.generate_square_subsequent_mask(10)
        for norm_first, activation in ((True, "relu"), (False, "gelu")):
            layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=norm_first, activation=activation)
            model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
            for masks in ({}, {"mask": causal, "is_causal": True}, {"src_key_padding_mask": hidden}):
                self.close(model, x, **masks)

    def test_multihead_attention(self):
        model, x = torch.nn.MultiheadAttention(32, 4, batch_first=True).eval(), torch.randn(2, 10, 32)
        self.close(model, x, x, x)
        self.close(model, x, x, x, need_weights=False)
        self.close(model, x, x + 1, x, average_attn_weights=False)

    def close(self, model, *args, **named):
        torch._dynamo.reset()
        run = torch.compile(model, backend="tern", options={"fallback": False})
        with torch.no_grad():
            torch.testing.assert_close(run(*args, **named), model(*args, **named), atol=1e-4, rtol=1e-4)

    def test_recurrent_networks(self):
        for kind in (torch.nn.LSTM, torch.nn.GRU):
            model, x = kind(8, 16, 2, batch_first=True).eval(), torch.randn(2, 5, 8)
            run = torch.compile(model, backend="tern")  # torch.compile leaves these modules to torch unless told otherwise
            with torch.no_grad():
                torch.testing.assert_close(run(x), model(x))


if __name__ == "__main__":
    unittest.main()
