"""Tokenizers that show the effect of single components: each byte of the normalised text becomes a token."""

import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

import trained

BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
EXPRESSIONS = (r"\d+", r"\s+", r"\w+|[^\w\s]+", r"[\p{Han}\p{Hiragana}]+", r"(?i:straße|kelvin)", r"^\s*\S", r"\S+$", r"a|b*", r"", r"\h{2}",
               r"(?<=a)\w", r"(?m:a.b)", r"[^\S\n]+", r"\p{^L}+", r"[[:punct:]]+", r"[[:alnum:]]", r"\Bb|\p{Letter}\p{Mark}", r"\u00e9|\x{e8}", r"\P{L}\p{Lu}?", r"\b\w{,3}\b", r"[\s\S]{3}",
               r"(\w)\1", r"\p{Greek}+|\p{Lu}\p{Ll}*|\p{Sc}|\p{Nd}{1,3}")


def needs_unicode_16(name):
    """True for expressions with classes for which PCRE2's Unicode data counts, which is older than the package's."""
    return r"\p{Han" in name or r"\p{Greek" in name or "[[:al" in name


def byte_model():
    """A token for each byte. The offsets tell where the byte comes from."""
    return models.BPE({f"<0x{b:02X}>": b for b in range(256)}, [], byte_fallback=True)


def tokenizer(normalizer=None, pre_tokenizer=None):
    t = Tokenizer(byte_model())
    if normalizer:
        t.normalizer = normalizer
    if pre_tokenizer:
        t.pre_tokenizer = pre_tokenizer
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return t


def named_normalizers():
    n = normalizers
    yield from ((x.__name__, x()) for x in (n.NFC, n.NFD, n.NFKC, n.NFKD, n.Lowercase, n.StripAccents, n.Nmt, n.ByteLevel))
    yield from ((f"Strip {a} {b}", n.Strip(left=a, right=b)) for a in (True, False) for b in (True, False))
    for bits in range(16):
        clean, chinese, strip, lower = (bool(bits & 1 << k) for k in range(4))
        yield f"BertNormalizer {bits}", n.BertNormalizer(clean, chinese, strip, lower)
    yield "Prepend", n.Prepend("▁x")
    yield "Replace string", n.Replace("a", "éa")
    yield "Replace empty string", n.Replace("", "-")
    yield "Replace by nothing", n.Replace(" ", "")
    yield from ((f"Replace {e}", n.Replace(Regex(e), "<é>")) for e in EXPRESSIONS)
    yield from ((f"Precompiled {rule}", trained.precompiled(rule)) for rule in ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"))
    yield "Sequence", n.Sequence([n.NFD(), n.StripAccents(), n.Replace(Regex(r"\s"), "▁▁"), n.Lowercase(), n.NFC(), n.Prepend("▁"), n.NFKC()])


def named_pre_tokenizers():
    p = pre_tokenizers
    yield from ((x.__name__, x()) for x in (p.BertPreTokenizer, p.Whitespace, p.WhitespaceSplit, p.UnicodeScripts))
    yield from ((f"Punctuation {b}", p.Punctuation(b)) for b in BEHAVIORS)
    yield from ((f"Digits {b}", p.Digits(b)) for b in (True, False))
    yield from ((f"Metaspace {s} {split}", p.Metaspace(prepend_scheme=s, split=split)) for s in ("first", "never", "always") for split in (True, False))
    yield "Metaspace letter", p.Metaspace(replacement="e")
    yield from ((f"ByteLevel {a} {b}", p.ByteLevel(add_prefix_space=a, use_regex=b)) for a in (True, False) for b in (True, False))
    yield from ((f"CharDelimiterSplit {c}", p.CharDelimiterSplit(c)) for c in " eé漢")
    yield from ((f"FixedLength {n}", p.FixedLength(n)) for n in (1, 5))
    yield from ((f"Split string {b} {i}", p.Split("e", b, i)) for b in BEHAVIORS for i in (True, False))
    yield from ((f"Split {e} {b}", p.Split(Regex(e), b)) for e in EXPRESSIONS for b in ("isolated", "removed", "contiguous"))
    yield from ((f"Split {e}", p.Split(Regex(e), "isolated")) for e in (trained.LLAMA_3, trained.QWEN_2, trained.GPT_4O, trained.CLIP))
    yield "Sequence", p.Sequence([p.WhitespaceSplit(), p.Metaspace(), p.Digits(True), p.Punctuation("merged_with_next"), p.ByteLevel()])


def named_decoders():
    d = decoders
    yield "none", None
    yield from ((x.__name__, x()) for x in (d.ByteLevel, d.Metaspace, d.WordPiece, d.ByteFallback, d.Fuse, d.CTC))
    yield "WordPiece without cleanup", d.WordPiece("a", False)
    yield "Metaspace never", d.Metaspace(prepend_scheme="never")
    yield "CTC", d.CTC("a", " ", True)
    yield "Strip", d.Sequence([d.Fuse(), d.Strip("e", 2, 0)])
    yield "Replace", d.Replace(Regex(r"\s|e"), "éé")
    yield "Replace string", d.Replace("a", "")


def components():
    """Yields (name, tokenizer)."""
    yield from ((f"normalizer {name}", tokenizer(x)) for name, x in named_normalizers())
    yield from ((f"pre-tokenizer {name}", tokenizer(None, x)) for name, x in named_pre_tokenizers())
    for name, decoder in named_decoders():
        t = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "##b": 2, "▁c": 3, "<0xC3>": 4, "<0xA9>": 5, "<0x41>": 6, "e": 7, " ": 8, "Ġd": 9, ".": 10, "'s": 11}, "[UNK]"))
        t.pre_tokenizer = pre_tokenizers.Split(Regex(r"##b|▁c|<0x..>|Ġd|'s|."), "isolated")
        if decoder:
            t.decoder = decoder
        yield f"decoder {name}", t
    yield from added_tokens()
    yield from processings()


def added_tokens():
    for bits in range(16):
        single, left, right, normalized = (bool(bits & 1 << k) for k in range(4))
        t = tokenizer(normalizers.Sequence([normalizers.Lowercase(), normalizers.NFKC()]), pre_tokenizers.Metaspace(prepend_scheme="first"))
        options = dict(single_word=single, lstrip=left, rstrip=right, normalized=normalized)
        t.add_tokens([AddedToken(x, **options) for x in ("The", "e", "ab", "abc", " x", "é", "漢", "1")])
        t.add_special_tokens([AddedToken("[MASK]", **options), AddedToken("<s>", special=True, **options)])
        yield f"added tokens {bits}", t


def processings():
    p = processors
    special = [("[A]", 1), ("[B]", 2)]
    made = {
        "Bert": p.BertProcessing(("[B]", 2), ("[A]", 1)),
        "Roberta": p.RobertaProcessing(("[B]", 2), ("[A]", 1), trim_offsets=True, add_prefix_space=False),
        "ByteLevel": p.ByteLevel(trim_offsets=True),
        "template": p.TemplateProcessing(single="[A] $A [B]:3 $A:2", pair="$B:1 [A]:7 $A", special_tokens=special),
        "Sequence": p.Sequence([p.ByteLevel(trim_offsets=True), p.TemplateProcessing(single="[A] $0", pair="[A] $A [B] $B:1", special_tokens=special)]),
    }
    for name, processor in made.items():
        for strategy in ("longest_first", "only_first"):
            for direction in ("left", "right"):
                t = tokenizer(None, pre_tokenizers.ByteLevel())
                t.post_processor = processor
                t.enable_truncation(700 if strategy == "only_first" else 23, strategy=strategy, direction=direction)
                t.enable_padding(direction=direction, pad_id=7, pad_type_id=3, pad_token="[P]", pad_to_multiple_of=5)
                yield f"post-processor {name} {strategy} {direction}", t


def code_point_lines(width=48):
    """Lines of all assigned code points, except that Han, Hangul and private ones are few."""
    characters = []
    for code_point in range(0x110000):
        category = unicodedata.category(chr(code_point))
        bulk = 0x3400 <= code_point < 0xA000 or 0xAC00 <= code_point < 0xD7A4 or 0x17000 <= code_point < 0x19000 or code_point >= 0x20000
        if category == "Cs" or (category == "Cn" or bulk) and code_point % 61:
            continue
        characters.append(chr(code_point))
    return ["".join(characters[i:i + width]) for i in range(0, len(characters), width)] + [
        "a".join(characters[i:i + width]) for i in range(0, len(characters), width)]
