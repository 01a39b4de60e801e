#!/usr/bin/env python3
"""Trains a small BERT-type classifier of sentiment on SST-2, from scratch, and exports it to ONNX with its tokenizer.

    pip install torch onnx tokenizers numpy
    python tests/accuracy/sst2/train.py --data DIR --out DIR

DIR contains train.tsv, dev.tsv and test.tsv with the columns `sentence` and `label`. The output folder gets model.onnx
(inputs input_ids and attention_mask, outputs logits and pooled), tokenizer.json, and {train,dev,test}.npz with the token ids
and labels of the three files. An epoch takes about 100 s on one idle core. The last line shows the accuracy on dev.tsv and
test.tsv.
"""

import argparse
import pathlib
import time

import numpy
import tokenizers
import torch
from torch import nn
from torch.nn import functional

LENGTH = 64  # tokens per sentence, at most
PAD = 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def read(path):
    """Returns the sentences and labels of a file."""
    lines = path.read_text().splitlines()[1:]
    pairs = [line.rsplit("\t", 1) for line in lines]
    return [sentence.strip() for sentence, _ in pairs], numpy.array([int(label) for _, label in pairs])


def train_tokenizer(sentences, size):
    """Returns a WordPiece tokenizer that adds [CLS] and [SEP]."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=size, special_tokens=special)
    tokenizer.train_from_iterator(sentences, trainer)
    ids = [("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ids)
    tokenizer.enable_truncation(LENGTH)
    return tokenizer


class Layer(nn.Module):
    """Attention and a feed-forward network, each followed by a layer norm, as in BERT."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        batch, length, width = x.shape
        split = lambda v: v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(2, 3) / (width // self.heads) ** 0.5 + mask
        mixed = (self.dropout(scores.softmax(-1)) @ v).transpose(1, 2).reshape(batch, length, width)
        x = self.norm1(x + self.dropout(self.output(mixed)))
        return self.norm2(x + self.dropout(self.narrow(functional.gelu(self.wide(x)))))


class Classifier(nn.Module):
    def __init__(self, vocabulary, width, layers, dropout=0.15):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(LENGTH, width)
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(width, 4, dropout) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.dropout(self.norm(self.words(input_ids) + self.places(places)))
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        weight = attention_mask[:, :, None].float()
        mean = (x * weight).sum(1) / weight.sum(1)
        pooled = torch.tanh(self.pooler(mean))
        return self.classifier(self.dropout(pooled)), pooled


def padded(rows):
    """Returns token ids [rows, longest] and the mask."""
    ids = numpy.full((len(rows), max(map(len, rows))), PAD, numpy.int64)
    for i, row in enumerate(rows):
        ids[i, :len(row)] = row
    return ids, (ids != PAD).astype(numpy.int64)


def batches(rows, size, generator):
    """Yields indices of rows of about the same length, in random order."""
    order = numpy.argsort([len(row) + generator.random() for row in rows], kind="stable")
    groups = [order[i:i + size] for i in range(0, len(order), size)]
    generator.shuffle(groups)
    yield from groups


@torch.no_grad()
def accuracy(model, rows, labels):
    model.eval()
    right = 0
    for i in range(0, len(rows), 256):
        ids, mask = map(torch.from_numpy, padded(rows[i:i + 256]))
        right += (model(ids, mask)[0].argmax(1).numpy() == labels[i:i + 256]).sum()
    return right / len(rows)


def train(model, rows, labels, dev, epochs):
    generator = numpy.random.default_rng(0)
    size = 128
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=0.02)
    steps = epochs * ((len(rows) + size - 1) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.5e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(epochs):
        model.train()
        start, total = time.time(), 0.0
        for group in batches(rows, size, generator):
            ids, mask = map(torch.from_numpy, padded([rows[i] for i in group]))
            # One token in ten is hidden, so that the model does not rely on single words.
            hide = (torch.rand(ids.shape) < 0.1) & (ids > 3)
            logits, _ = model(torch.where(hide, torch.ones_like(ids), ids), mask)
            loss = functional.cross_entropy(logits, torch.from_numpy(labels[group]), label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total * size / len(rows):.4f}, dev {accuracy(model, *dev):.4f}, "
              f"{time.time() - start:.0f} s", flush=True)


def main():
    args = parse()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    texts = {name: read(args.data / f"{name}.tsv") for name in ("train", "dev", "test")}
    tokenizer = train_tokenizer(texts["train"][0], args.vocabulary)
    sets = {name: ([e.ids for e in tokenizer.encode_batch(sentences)], labels)
            for name, (sentences, labels) in texts.items()}
    model = Classifier(tokenizer.get_vocab_size(), args.width, args.layers)
    train(model, *sets["train"], sets["dev"], args.epochs)
    args.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(args.out / "tokenizer.json"))
    for name, (rows, labels) in sets.items():
        ids, mask = padded(rows)
        numpy.savez_compressed(args.out / f"{name}.npz", input_ids=ids, attention_mask=mask, labels=labels)
    model.eval()
    axes = {name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask")}
    axes.update(logits={0: "batch"}, pooled={0: "batch"})
    ids, mask = map(torch.from_numpy, padded(sets["dev"][0][:2]))
    torch.onnx.export(model, (ids, mask), str(args.out / "model.onnx"), input_names=["input_ids", "attention_mask"],
                      output_names=["logits", "pooled"], dynamic_axes=axes, opset_version=17, dynamo=False)
    print(f"dev {accuracy(model, *sets['dev']):.4f}, test {accuracy(model, *sets['test']):.4f}")


if __name__ == "__main__":
    main()
