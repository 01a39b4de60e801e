"""Tokenizers like those of published models, trained on the test's own texts."""

import collections
import io
import itertools
import json

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA_3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN_2 = LLAMA_3.replace("{1,3}", "")
GPT_4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
          r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
          r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def word_piece(lines, size, **normalizer):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(**normalizer)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(lines, trainers.WordPieceTrainer(vocab_size=size, special_tokens=BERT_SPECIAL, show_progress=False))
    t.decoder = decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def bert_uncased(lines, size):
    return word_piece(lines, size)


def bert_cased(lines, size):
    t = word_piece(lines, size, lowercase=False)
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.enable_truncation(64, strategy="longest_first")
    t.enable_padding(pad_to_multiple_of=8)
    return t


def bert_multilingual(lines, size):
    t = word_piece(lines, size, lowercase=True, strip_accents=False, clean_text=False)
    t.add_tokens([AddedToken("Ünder", single_word=True), AddedToken("the", lstrip=True, rstrip=True), AddedToken("Zoo  Zoo")])
    t.enable_truncation(20, direction="left")
    t.enable_padding(direction="left", length=24)
    return t


def word_piece_whitespace(lines, size):
    t = word_piece(lines, size)
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    return t


def byte_level(lines, size, pre_tokenizer=None, special=("<|endoftext|>",), model=None, normalizer=None):
    t = Tokenizer(model or models.BPE())
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer or pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), show_progress=False,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.decoder = decoders.ByteLevel()
    return t


def gpt2(lines, size):
    t = byte_level(lines, size)
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def roberta(lines, size):
    t = byte_level(lines, size, pre_tokenizers.ByteLevel(add_prefix_space=True), ROBERTA_SPECIAL)
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return t


def split_and_bytes(expression):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def llama3(lines, size):
    t = byte_level(lines, size, split_and_bytes(LLAMA_3), ["<|begin_of_text|>"], models.BPE(ignore_merges=True))
    template = processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B",
                                             special_tokens=[("<|begin_of_text|>", 0)])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template])
    return t


def qwen2(lines, size):
    return byte_level(lines, size, split_and_bytes(QWEN_2), normalizer=normalizers.NFC())


def gpt_4o(lines, size):
    return byte_level(lines, size, split_and_bytes(GPT_4O))


def clip(lines, size):
    t = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=["<|startoftext|>", "<|endoftext|>"],
                                                     show_progress=False, end_of_word_suffix="</w>",
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False,
                                                    add_prefix_space=False)
    t.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.BPEDecoder()])
    return t


def byte_fallback(lines, size):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False, limit_alphabet=500))
    return t


def without_byte_tokens(t):
    """The trainer makes added tokens of the bytes, which published files do not have."""
    data = json.loads(t.to_str())
    data["added_tokens"] = [a for a in data["added_tokens"] if not a["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(data))


def llama2(lines, size):
    t = without_byte_tokens(byte_fallback(lines, size))
    t.pre_tokenizer = None
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return t


def mistral(lines, size):
    t = without_byte_tokens(byte_fallback(lines, size))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    return t


def prefixed_bpe(lines, size):
    t = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=False))
    t.normalizer = normalizers.NFKC()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous")])
    t.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=size, special_tokens=["[UNK]"], show_progress=False, limit_alphabet=400,
                                                     continuing_subword_prefix="##"))
    t.decoder = decoders.WordPiece(cleanup=False)
    return t


def wire_fields(data):
    """Yields (number, value) of the fields of a protocol buffer; other than bytes are skipped."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        if key & 7 == 2:
            size, at = varint(at)
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 0:
            _, at = varint(at)
        else:
            at += {1: 8, 5: 4}[key & 7]


def charsmap(rule):
    """The compiled normalisation rule of SentencePiece: nmt_nfkc, nfkc_cf and so on."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d e f g h i j k l m n o p q r s t u v w x y z"] * 20), model_writer=model,
                                             vocab_size=30, normalization_rule_name=rule, minloglevel=2, hard_vocab_limit=False)
    spec = dict(wire_fields(model.getvalue()))[3]
    return dict(wire_fields(spec))[2]


def precompiled(rule):
    return normalizers.Precompiled(charsmap(rule))


def of_frequent_characters(lines, count):
    """The lines that consist of the `count` most frequent characters. The trainer needs a token for each character."""
    counts = collections.Counter(itertools.chain.from_iterable(lines))
    frequent = {character for character, _ in counts.most_common(count)}
    return [line for line in lines if frequent.issuperset(line)]


def unigram(lines, size, normalizer, prepend="always", special=("<pad>", "</s>", "<unk>")):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend)
    t.train_from_iterator(of_frequent_characters(lines, size // 4), trainers.UnigramTrainer(vocab_size=size, special_tokens=list(special), unk_token="<unk>", show_progress=False))
    t.decoder = decoders.Metaspace(prepend_scheme=prepend)
    return t


def t5(lines, size):
    t = unigram(lines, size, normalizers.Sequence([precompiled("nmt_nfkc"), normalizers.Replace(Regex(" {2,}"), " ")]))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


def xlm_r(lines, size):
    t = unigram(lines, size, precompiled("nmt_nfkc"), special=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                     special_tokens=[("<s>", 0), ("</s>", 2)])
    t.enable_truncation(32, strategy="longest_first")
    return t


def albert(lines, size):
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
             normalizers.Lowercase(), precompiled("nmt_nfkc_cf"), normalizers.Replace(Regex(" {2,}"), " ")]
    t = unigram(lines, size, normalizers.Sequence(steps), special=("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
    t.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                                                     special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return t


def unigram_bytes(lines, size):
    """Unigram with byte fallback, and without words."""
    t = unigram(lines, size, normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()]), "never")
    data = json.loads(t.to_str())
    data["model"]["vocab"] += [[f"<0x{b:02X}>", -20.0] for b in range(256)]
    data["model"]["byte_fallback"] = True
    data["pre_tokenizer"]["split"] = False
    return Tokenizer.from_str(json.dumps(data))


def word_level(lines, size):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False), pre_tokenizers.UnicodeScripts()])
    t.train_from_iterator(lines, trainers.WordLevelTrainer(vocab_size=size, special_tokens=["[UNK]"], show_progress=False))
    return t


KINDS = {
    "WordPiece": (bert_uncased, bert_cased, bert_multilingual, word_piece_whitespace),
    "byte-level BPE": (gpt2, roberta, llama3, qwen2, gpt_4o, clip),
    "BPE": (llama2, mistral, prefixed_bpe),
    "Unigram": (t5, xlm_r, albert, unigram_bytes),
    "WordLevel": (word_level,),
}
