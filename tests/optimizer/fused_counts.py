#!/usr/bin/env python3
"""Counts the fused ops (such as Attention and LayerNorm) after Tern has optimized an exported model. The counts must
equal the numbers of these layers in the architecture.

    fused_counts.py --tern build/release/bin/tern --models .cache/architectures

Prints a line per export. The exit status is 1 if a count differs or an export is missing. The last line is `N passed, N
failed, N skipped`. Activations are counted after the stage `recompose`, because later stages fuse them into
convolutions and matrix products.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

from child import Failure
from tern import Tern

# Maps the names in this file to the names of ops in the report of `tern optimize`.
KINDS = {"Attention": "Attention", "LayerNorm": "LayerNorm", "RmsNorm": "RmsNorm", "Gelu": "Gelu",
         "swish": "Activation.swish", "rotary": "RotaryEmbedding"}
EXPORTERS = ("torchscript", "dynamo")
SHAPES = ("static", "dynamic")


@dataclass(frozen=True)
class Expected:
    config: str  # a description of the configuration in tests/architectures/families, which determines the counts
    counts: dict = field(default_factory=dict)


def encoder(layers, config, extra_norms, extra_gelus=0):
    """Returns the counts of an encoder. Each layer has one attention, two norms and one GELU."""
    return Expected(config, {"Attention": layers, "LayerNorm": 2 * layers + extra_norms, "Gelu": layers + extra_gelus})


def rotary_decoder(layers, config):
    """Returns the counts of a decoder. Each layer has one attention with rotary embeddings of queries and keys, two
    norms and one SiLU. There is a norm at the end."""
    return Expected(config, {"Attention": layers, "RmsNorm": 2 * layers + 1, "swish": layers, "rotary": 2 * layers})


def t5(encoder_layers, decoder_layers, config):
    """Returns the counts of T5. A norm precedes each attention and each feed-forward network, and follows the encoder
    and the decoder. Decoder layers have a self-attention and a cross-attention."""
    return Expected(config, {"Attention": encoder_layers + 2 * decoder_layers,
                             "RmsNorm": 2 * encoder_layers + 1 + 3 * decoder_layers + 1})


def whisper(encoder_layers, decoder_layers, config):
    """Returns the counts of Whisper. It has the attentions and norms of T5, one GELU in each layer, and a GELU after
    each of its two convolutions."""
    return Expected(config, {"Attention": encoder_layers + 2 * decoder_layers,
                             "LayerNorm": 2 * encoder_layers + 1 + 3 * decoder_layers + 1,
                             "Gelu": encoder_layers + decoder_layers + 2})


def mobilevit(inverted, transformers, config):
    """Returns the counts of MobileViT. `inverted` has the number of inverted residuals of each plain stage.
    `transformers` has the number of transformer layers of each other stage.

    An inverted residual has two SiLUs. A stage with transformer layers has one inverted residual, three convolutions
    with SiLU, a SiLU per transformer layer and a norm at the end. The first and the last convolution of the network
    have a SiLU each.
    """
    layers, stages = sum(transformers), len(transformers)
    return Expected(config, {"Attention": layers, "LayerNorm": 2 * layers + stages,
                             "swish": 1 + 2 * sum(inverted) + stages * (2 + 3) + layers + 1})


EXPECTED = {
    "bert": encoder(2, "BertModel, num_hidden_layers=2; a norm in the embeddings", 1),
    "distilbert": encoder(2, "DistilBertForMaskedLM, n_layers=2; a norm in the embeddings, GELU and norm in the head",
                          2, 1),
    "vit": encoder(2, "ViTForImageClassification, num_hidden_layers=2; a norm at the end", 1),
    "gpt2": encoder(2, "GPT2LMHeadModel, n_layer=2; a norm at the end", 1),
    "llama": rotary_decoder(2, "LlamaForCausalLM, num_hidden_layers=2"),
    "qwen2": rotary_decoder(2, "Qwen2ForCausalLM, num_hidden_layers=2"),
    "swin": encoder(3, "SwinForImageClassification, depths=[1, 2]; norms in the embeddings, between stages, at the end",
                    3),
    "whisper": whisper(2, 2, "WhisperForConditionalGeneration, encoder_layers=2, decoder_layers=2"),
    "t5": t5(2, 2, "T5ForConditionalGeneration, num_layers=2, num_decoder_layers=2, feed forward with ReLU"),
    "mobilevit": mobilevit((1, 3), (2, 4, 3), "MobileViTForImageClassification, hidden_sizes of three stages"),
}


def counted(tern, model):
    final = tern.report(model)["ops"]
    early = tern.report(model, "--stop-after", "recompose")["ops"]
    activations = ("Gelu", "swish")
    return {kind: (early if kind in activations else final).get(name, 0) for kind, name in KINDS.items()}


def check(tern, folder, expected):
    """Returns the line to print, and whether the counts are as expected."""
    model = folder / "model.onnx"
    if not model.is_file():
        return "no such export", False
    try:
        found = counted(tern, model)
    except Failure as failure:
        return str(failure), False
    parts, right = [], True
    for kind in KINDS:
        want = expected.counts.get(kind, 0)
        right = right and found[kind] == want
        if found[kind] or want:
            parts.append(f"{kind} {found[kind]}" + ("" if found[kind] == want else f" (expected {want})"))
    return ", ".join(parts), right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", type=Path, default=Path("build/release/bin/tern"))
    parser.add_argument("--models", type=Path, default=Path(".cache/architectures"), help="folder that tests/architectures/export.py filled")
    parser.add_argument("--only", nargs="*", default=sorted(EXPECTED), choices=sorted(EXPECTED), metavar="FAMILY")
    parser.add_argument("--limit", type=float, default=120, help="time limit per model, in seconds")
    args = parser.parse_args()
    tern = Tern(args.tern, args.limit)
    wrong = 0
    for family in args.only:
        expected = EXPECTED[family]
        print(f"{family}: {expected.config}")
        for name in (f"{family}.{exporter}.{shape}" for exporter in EXPORTERS for shape in SHAPES):
            line, right = check(tern, args.models / name, expected)
            wrong += not right
            print(f"  {'ok  ' if right else 'FAIL'} {name}: {line}")
    print(f"{len(args.only) * len(EXPORTERS) * len(SHAPES) - wrong} passed, {wrong} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
