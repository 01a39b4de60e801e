"""Exports a transformer from torch with open dims, and runs it on batches and lengths that the export never saw. usage: transformer.py OUTPUT"""
import sys

import numpy as np
import tern
import torch


class Encoder(torch.nn.Module):
    """Reads token ids and a mask. Returns one vector per text: the mean over its tokens."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(1000, 128)
        layer = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, norm_first=True, activation="gelu")
        self.layers = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)

    def forward(self, ids, mask):
        y = self.layers(self.embed(ids), src_key_padding_mask=mask == 0) * mask[:, :, None]
        return y.sum(1) / mask.sum(1, keepdim=True)


torch.manual_seed(0)
net = Encoder().eval()
ids, mask = torch.randint(0, 1000, (2, 9)), torch.ones(2, 9, dtype=torch.int64)
open_dims = {0: "batch", 1: "length"}
torch.onnx.export(net, (ids, mask), sys.argv[1], input_names=["ids", "mask"], output_names=["vectors"],
                  dynamic_shapes={"ids": open_dims, "mask": open_dims}, external_data=False, verbose=False)

predictor = tern.load(sys.argv[1])
print(predictor)
for batch, length in ((1, 5), (3, 40), (8, 128)):
    ids = torch.randint(0, 1000, (batch, length))
    mask = (torch.arange(length) < torch.randint(1, length + 1, (batch, 1))).long()
    vectors = predictor(ids=ids, mask=mask)["vectors"]  # torch tensors are read without a copy
    difference = np.abs(vectors - net(ids, mask).detach().numpy()).max()
    print(f"batch {batch}, length {length}: {vectors.shape}, {'equal' if difference < 1e-5 else 'different'}")
