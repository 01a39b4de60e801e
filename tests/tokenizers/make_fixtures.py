#!/usr/bin/env python3
"""Writes tests/data/tokenizers: small trained tokenizers, and what the `tokenizers` package gives for some texts.

usage: make_fixtures.py FOLDER
"""

import io
import json
import pathlib
import sys
import tempfile

import sentencepiece
from tokenizers import normalizers

import corpus
import trained

TEXTS = ["The quick brown fox jumps over the lazy dog.", "Naïve café, déjà-vu: 12,345 ÷ 67!", "tokenizer TOKENIZERS Tokenizing", "",
         "  two  spaces\tand\na line ", "漢字とカナ 한국어 ไทย", "Привет, мир! Ελληνικά", "مرحبا שלום", "👩‍👩‍👧 👍🏽 é e\u0301", "[MASK] <mask> <s>x</s> <|endoftext|>",
         "don't we'll I'VE", "ﬁne ① ２ ½ ℃", "a\0b\u200bc\u00add", "x" * 120]
RULES = "FF21\t41\nFF22\t42\n2460\t31\nFB01\t66 69\n09\t20\n200B\t\n65 301\tE9\n2103\tB0 43\n"


def small_charsmap():
    """A normalisation rule with a few entries; those of published models have 300 kB."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        rules.write(RULES)
        rules.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e f g h"] * 9), model_writer=model, vocab_size=14,
                                                 normalization_rule_tsv=rules.name, minloglevel=2, hard_vocab_limit=False)
    return dict(trained.wire_fields(dict(trained.wire_fields(model.getvalue()))[3]))[2]


def english(root):
    return [line for line in corpus.documents(root) if line.isascii()][:600]


def fixtures(root):
    lines = english(root)
    yield from ((make.__name__, make(lines, 350)) for make in (trained.bert_uncased, trained.bert_cased, trained.gpt2, trained.roberta,
                                                                trained.llama3, trained.clip, trained.llama2, trained.word_level))
    trained.precompiled = lambda rule: normalizers.Precompiled(small_charsmap())
    yield from ((make.__name__, make(lines, 350)) for make in (trained.t5, trained.xlm_r, trained.albert))


def recorded(tokenizer, text):
    e = tokenizer.encode(text)
    return {"ids": e.ids, "type_ids": e.type_ids, "attention_mask": e.attention_mask, "offsets": e.offsets, "tokens": e.tokens,
            "decoded": tokenizer.decode(e.ids)}


def main():
    root, folder = pathlib.Path(__file__).resolve().parents[2], pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, tokenizer in fixtures(root):
        (folder / f"{name}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=True, separators=(",", ":")) + "\n")
        expected = [{"text": text, **recorded(tokenizer, text)} for text in TEXTS]
        lines = ",\n".join(json.dumps(e, ensure_ascii=True, separators=(",", ":")) for e in expected)
        (folder / f"{name}.expected").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
