"""Controls the program tern_tokenize, which runs Tern's tokenizers."""

import dataclasses
import struct
import subprocess


@dataclasses.dataclass
class Encoding:
    """The fields of tern::data::Encoding, and the decoded ids without and with special tokens."""
    ids: list
    type_ids: list
    attention_mask: list
    special_tokens_mask: list
    words: list
    sequence_ids: list
    offsets: list
    tokens: list
    decoded: str
    decoded_all: str


class TernError(Exception):
    pass


class Tern:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def _send(self, *parts):
        for part in parts:
            if isinstance(part, int):
                part = struct.pack("<I", part)
            elif isinstance(part, str):
                part = part.encode("utf-8", "surrogatepass")
                part = struct.pack("<I", len(part)) + part
            self.process.stdin.write(part)

    def _numbers(self, count):
        data = self.process.stdout.read(4 * count)
        if len(data) != 4 * count:
            raise TernError(f"tern_tokenize ended with {self.process.wait()}")
        return list(struct.unpack(f"<{count}i", data))

    def _text(self):
        return self.process.stdout.read(self._numbers(1)[0]).decode("utf-8")

    def _check(self):
        if error := self._text():
            raise TernError(error)

    def _answer(self):
        self.process.stdin.flush()
        self._check()

    def load(self, path):
        self._send(b"L", str(path))
        self._answer()

    def encode(self, texts, special=True):
        """Encodes texts, or pairs of texts. Returns an Encoding or a TernError for each."""
        pairs = bool(texts) and isinstance(texts[0], tuple)
        self._send(b"E", special | pairs << 1, len(texts))
        for text in texts:
            self._send(*(text if pairs else (text,)))
        self.process.stdin.flush()
        return [self._encoding() for _ in texts]

    def _encoding(self):
        try:
            self._check()
        except TernError as error:
            return error
        count = self._numbers(1)[0]
        lists = [self._numbers(count) for _ in range(6)]
        flat = self._numbers(2 * count)
        tokens = [self._text() for _ in range(count)]
        return Encoding(*lists, list(zip(flat[::2], flat[1::2])), tokens, self._text(), self._text())

    def keep(self, texts):
        self._send(b"B", len(texts), *texts)
        self._answer()

    def seconds(self):
        """Encodes the kept texts one by one and returns the time that takes."""
        self._send(b"R")
        self.process.stdin.flush()
        return int(self._text()) / 1e9
