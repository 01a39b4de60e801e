"""Texts for the comparison of tokenizers: documents, translations that the system has, and generated Unicode."""

import gettext
import glob
import os
import pathlib
import random

LANGUAGES = ("ar bg bn ca cs da de el eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ku ky lt lv mk ml mr ms "
             "nb ne nl or pa pl pt pt_BR ro ru sk sl sq sr sv ta te th tr uk ur uz vi zh_CN zh_TW").split()

# First and last code points of letters, for generated words.
BLOCKS = {
    "latin": (0x61, 0x7A), "latin_1": (0xC0, 0x17F), "ipa": (0x250, 0x2AF), "greek": (0x391, 0x3C9), "cyrillic": (0x400, 0x45F),
    "armenian": (0x531, 0x586), "hebrew": (0x5D0, 0x5EA), "arabic": (0x620, 0x64A), "syriac": (0x710, 0x72F),
    "devanagari": (0x904, 0x94D), "bengali": (0x985, 0x9CD), "tamil": (0xB85, 0xBCD), "thai": (0xE01, 0xE3A), "tibetan": (0xF40, 0xF7D),
    "myanmar": (0x1000, 0x103F), "georgian": (0x10A0, 0x10FF), "hangul_jamo": (0x1100, 0x11FF), "ethiopic": (0x1200, 0x137C),
    "khmer": (0x1780, 0x17D3), "mongolian": (0x1800, 0x18AA), "vietnamese": (0x1E00, 0x1EFF), "greek_extended": (0x1F00, 0x1FFE),
    "punctuation": (0x2000, 0x206F), "letterlike": (0x2100, 0x218F), "arrows": (0x2190, 0x21FF), "enclosed": (0x2460, 0x24FF),
    "box": (0x2500, 0x25FF), "hiragana": (0x3041, 0x309F), "katakana": (0x30A0, 0x30FF), "cjk_compatibility": (0x3300, 0x33FF),
    "han": (0x4E00, 0x9FA5), "hangul": (0xAC00, 0xD7A3), "private": (0xE000, 0xE020), "han_compatibility": (0xF900, 0xFA6D),
    "presentation": (0xFB00, 0xFDFB), "half_width": (0xFF01, 0xFFEE), "gothic": (0x10330, 0x1034A), "mathematical": (0x1D400, 0x1D7FF),
    "emoji": (0x1F300, 0x1F64F), "flags": (0x1F1E6, 0x1F1FF), "han_extension": (0x20000, 0x20100), "adlam": (0x1E900, 0x1E95F),
}


def documents(root):
    """The lines of this project's documents."""
    for path in sorted(pathlib.Path(root).glob("docs/**/*.md")):
        yield from path.read_text().splitlines()


def translations():
    """Messages of installed programs in many languages."""
    for language in LANGUAGES:
        for path in sorted(glob.glob(f"/usr/share/locale/{language}/LC_MESSAGES/*.mo"))[:40]:
            try:
                with open(path, "rb") as file:
                    catalog = gettext.GNUTranslations(file)
            except (OSError, UnicodeDecodeError, ValueError):
                continue
            yield from (text for key, text in sorted(catalog._catalog.items(), key=str) if key and isinstance(text, str))


def text_files():
    """The lines of the files in the folder TERN_TEXT, if that is set."""
    for path in sorted(glob.glob(os.path.join(os.environ.get("TERN_TEXT", "/nonexistent"), "**", "*.*sv"), recursive=True)):
        with open(path, encoding="utf-8", errors="ignore") as file:
            yield from (line.rstrip("\n") for line in file)


def generated_line(rng):
    """A line of random words of one to three scripts, with numbers, marks and white space."""
    blocks = [BLOCKS[name] for name in rng.sample(sorted(BLOCKS), rng.randint(1, 3))]
    words = []
    for _ in range(rng.randint(1, 20)):
        kind = rng.random()
        first, last = rng.choice(blocks)
        if kind < 0.7:
            word = "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 9)))
        elif kind < 0.8:
            word = str(rng.randint(0, 10 ** rng.randint(1, 12)))
        elif kind < 0.9:
            word = "".join(rng.choice("!?.,;:'\"()[]{}<>#@%&*-_=+/\\|~`$^") for _ in range(rng.randint(1, 4)))
        else:
            word = "".join(chr(rng.randint(first, last)) + chr(rng.choice((0x300, 0x301, 0x308, 0x323, 0x327, 0x20D0, 0x200D)))
                           for _ in range(rng.randint(1, 4)))
        words.append(word)
    return rng.choice((" ", " ", " ", "  ", "\t", "", "\n", "\u00a0", "\u3000")).join(words)


def lines(root, count, seed=1):
    """Returns `count` different lines in a random order: half of them real text, where the system has that much."""
    rng = random.Random(seed)
    real = sorted({line for source in (documents(root), translations(), text_files()) for line in source if line.strip()})
    chosen = rng.sample(real, min(len(real), count // 2))
    seen = set(chosen)
    while len(chosen) < count:
        line = generated_line(rng)
        if line not in seen:
            seen.add(line)
            chosen.append(line)
    rng.shuffle(chosen)
    return chosen


def hostile():
    """Texts that break careless programs. All are valid Unicode."""
    yield from ("", " ", "\n", "\t \r\n", "\0", "a\0b", "\0" * 100, "\ufeffabc", "\ufffd", "\uffff", "\U0010ffff", "x" * 1_000_000, "é" * 300_000)
    yield from ("漢" * 100_000, "ab " * 100_000, " " * 200_000, "\n" * 100_000, "a\u0301" * 1000, "a" + "\u0301\u0323" * 5000, "\u0301abc", "\u200d" * 50)
    yield from ("👨‍👩‍👧‍👦👍🏽🏳️‍🌈🇩🇪🇫🇷🇩", "שלום עולם مرحبا بالعالم \u202eabc\u202c \u200f\u200e", "".join(map(chr, range(0x20))), "".join(map(chr, range(0x7F, 0xA0))))
    yield from ("ﬁ ﬃ ℃ ㎏ ½ ² Ⅷ ﷺ", "İstanbul ISTANBUL ıI ẞß ſ Ω K Å", "ᄀ\u1161\u11a8 각 가\u11a8", "\u0344\u0958\u2126\u212b", "e\u0301\u0327\u0323 \u1e69\u0323", "क्षत्रिय ज्ञ")
    yield from ("[CLS] a [SEP] [MASK]b [mask] <s>x</s> <unk> <pad><|endoftext|> <MASK>", "[MASK]  [MASK]", "x[MASK]y", "don't DON'T we'll I'VE 'ſ 's", "a  b   c    d", "  leading and trailing  ")
    yield from ("▁a▁▁b ▁ c▁", "Ġa Ċ Äĩ", "<0x41><0xFF>", "##a a##b", "1234567890 1,234.56 ٣٤٥ ４５６ ⅫⅣ", "a\r\nb\rc\nd\u0085e\u2028f\u2029g", "\u180e\u200b\u2060\ufeff \u00ad", "￼\ue000\U000f0000")
