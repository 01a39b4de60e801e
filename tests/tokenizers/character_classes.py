"""Reads from the `tokenizers` package which code points belong to each class of characters that it tests for."""

from tokenizers import Regex, normalizers, pre_tokenizers

# In the order of the bits of CharClass in src/data/tokenizer/unicode.h.
NAMES = ("letter", "number", "space", "word", "punctuation", "nonspacing", "combining", "other")


def all_characters():
    return (chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point <= 0xDFFF)


def removed_by(normalizer):
    return {ord(c) for c in all_characters() if normalizer.normalize_str(c) == ""}


def split_by(pre_tokenizer):
    """Returns the code points that the pre-tokenizer does not join with letters."""
    return {ord(c) for c in all_characters() if len(pre_tokenizer.pre_tokenize_str(f"a{c}a")) > 1}


def read():
    """Returns a set of code points for each name of NAMES."""
    plain = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    word_breaks = split_by(pre_tokenizers.Whitespace())
    return {
        "letter": removed_by(normalizers.Replace(Regex(r"\p{L}"), "")),
        "number": removed_by(normalizers.Replace(Regex(r"\p{N}"), "")),
        "space": split_by(pre_tokenizers.WhitespaceSplit()),
        "word": {ord(c) for c in all_characters()} - word_breaks,
        "punctuation": split_by(pre_tokenizers.Punctuation()),
        "nonspacing": removed_by(normalizers.BertNormalizer(**(plain | {"strip_accents": True}))),
        "combining": removed_by(normalizers.StripAccents()),
        "other": removed_by(normalizers.BertNormalizer(**(plain | {"clean_text": True}))),
    }


def matched_by(expression):
    """Returns the code points that the regular expression matches."""
    return removed_by(normalizers.Replace(Regex(expression), ""))
