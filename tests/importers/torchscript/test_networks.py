"""Networks of common architectures, traced and scripted."""

import os
import pathlib
import unittest
import zipfile

import networks
import numpy as np
import torch
from script_case import ScriptCase, run_model


def ids(*shape, below=12):
    return torch.randint(0, below, shape)


class Networks(ScriptCase):
    def test_resnet(self):
        self.both(networks.ResNet(), torch.randn(2, 3, 64, 64))

    def test_mobilenet(self):
        self.both(networks.MobileNet(), torch.randn(2, 3, 32, 32))

    def test_densenet(self):
        self.both(networks.DenseNet(), torch.randn(1, 3, 9, 8))

    def test_unet(self):
        self.both(networks.UNet(), torch.randn(1, 1, 17, 19))

    def test_detector(self):
        self.both(networks.Detector(), torch.randn(2, 3, 32, 24))

    def test_gpt(self):
        self.both(networks.Gpt(), ids(2, 7))

    def test_bert(self):
        inputs = ids(2, 7), torch.tensor([[1] * 7, [1] * 4 + [0] * 3]), ids(2, 7, below=2)
        torch.manual_seed(3)
        model = torch.jit.trace(networks.Bert().eval(), inputs, strict=False, check_trace=False)
        self.compare(model, *inputs)
        self.scripted(networks.ScriptBert(), *inputs)

    def test_vision_transformer(self):
        self.both(networks.VisionTransformer(), torch.randn(2, 3, 16, 16))

    def test_text_cnn(self):
        self.both(networks.TextCnn(), ids(2, 9))

    def test_tagger(self):
        self.both(networks.Tagger(), ids(2, 9))

    def test_seq2seq(self):
        self.scripted(networks.Seq2Seq(), ids(2, 9), 5)

    def test_wavenet(self):
        self.both(networks.WaveNet(), torch.randn(1, 4, 30))

    def test_autoencoder(self):
        self.both(networks.Autoencoder(), torch.randn(3, 1, 8, 8))

    def test_pointnet(self):
        self.both(networks.PointNet(), torch.randn(2, 20, 3))

    def test_recommender(self):
        self.traced(networks.Recommender(), torch.randn(3, 4), ids(3, 3, below=10))
        self.scripted(networks.ScriptRecommender(), torch.randn(3, 4), ids(3, 3, below=10))

    def test_spectrogram(self):
        self.both(networks.Spectrogram(), torch.randn(2, 80))

    def test_swin(self):
        self.both(networks.Swin(), torch.randn(1, 4, 6, 6))

    def test_mixture_of_experts(self):
        self.both(networks.MixtureOfExperts(), torch.randn(4, 6))

    def test_nms(self):
        corners = torch.rand(8, 2)
        boxes = torch.cat([corners, corners + 0.2 + torch.rand(8, 2)], 1)
        self.scripted(networks.Nms(), boxes, torch.rand(8))

    def test_half_precision_weights(self):
        model = networks.TextCnn().half().float()
        self.both(model, ids(2, 9))


@unittest.skipUnless("TERN_ZOO" in os.environ, "needs TERN_ZOO")
class Zoo(ScriptCase):
    def unpack(self, archive, name):
        path = pathlib.Path(os.environ["TERN_ZOO"], "models/torchscript", archive)
        with zipfile.ZipFile(path) as files:
            return files.extract(name, self.folder.name)

    def test_traced_small_model(self):
        path = self.unpack("traced_small_model.zip", "traced_small_model.pt")
        tokens = np.random.default_rng(1).integers(0, 30000, (3, 20))
        wanted = torch.jit.load(path)({"input_ids": torch.from_numpy(tokens)}).detach().numpy()
        got = run_model(path, {"input_ids": tokens})
        np.testing.assert_allclose(got["output_0"], wanted, rtol=1e-5, atol=1e-6)

    def test_sentence_highlighting(self):
        path = self.unpack("sentence_highlighting_qa.zip", "model.pt")
        rng = np.random.default_rng(1)
        feeds = {"input_ids": rng.integers(0, 30522, (1, 50)), "attention_mask": np.ones((1, 50), np.int64),
                 "token_type_ids": (np.arange(50) > 20).astype(np.int64)[None], "sentence_ids": (np.arange(50) // 9)[None] - 1}  # fmt: skip
        wanted = torch.jit.load(path)(*map(torch.from_numpy, feeds.values())).numpy()
        got = run_model(path, feeds)
        np.testing.assert_array_equal(got["output_0"], wanted)


if __name__ == "__main__":
    unittest.main()
