#!/usr/bin/env python3
"""Writes most of the inputs in corpus/, which are committed.

usage: make_corpus.py TERN_BINARY ONNX_DATA_FOLDER [JPEG_FILE]"""

import io
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np

CASES = ["test_add", "test_conv_with_strides_padding", "test_if", "test_loop11", "test_scan9_sum", "test_reshape_negative_dim",
         "test_cast_FLOAT_to_FLOAT8E4M3FN", "test_sequence_insert_at_back", "test_optional_get_element_tensor", "test_lstm_defaults",
         "test_quantizelinear_int4", "test_ai_onnx_ml_label_encoder_string_int", "test_gelu_default_1_expanded", "test_constant"]


def write(kind, name, data):
    folder = pathlib.Path(__file__).parent / "corpus" / (kind + "_fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def png(width, height, rows):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def main():
    tern, data = sys.argv[1], pathlib.Path(sys.argv[2])
    for case in CASES:
        model = data / "node" / case / "model.onnx"
        write("onnx", case, model.read_bytes())
        out = pathlib.Path("/tmp/corpus.tern")
        if subprocess.run([tern, "convert", model, "-o", out], capture_output=True).returncode == 0:
            write("tern_file", case, out.read_bytes())
    write("text_ir", "mlp", b"""graph @mlp(%x: f32[N,4]) -> (%y) {
  meta "k" = "v\\n"
  #w: f32[4,2] = (1, 2, 3, 4, 5, 6, 7, nan)
  overridable #b: f16[2] = (0.5, -inf)
  #i: i4[3] = (-8, 7, 0)
  %h = MatMul(%x, #w) + Cast(#b) {to=f32}
  %y: f32[N,2] = Softmax(Relu(%h)) {axis=-1} as "p" from "here"
}""")
    write("text_ir", "if", b"""graph @g(%c: bool[], %x: f32[2*H+1,max(N,3)]) -> (%y) {
  %y = If(%c) [then @t() -> (%a) { %a = %x + %x } else @e() -> (%a) { %a = Neg(%x) }]
}""")
    for name, array in {"f4": np.arange(6, dtype="<f4").reshape(2, 3), "fortran": np.asfortranarray(np.ones((2, 2), ">i2")),
                        "text": np.array(["a", "bcd"]), "scalar": np.array(True)}.items():
        buffer = io.BytesIO()
        np.save(buffer, array)
        write("npy", name, buffer.getvalue())
    for name, save in {"stored": np.savez, "deflated": np.savez_compressed}.items():
        buffer = io.BytesIO()
        save(buffer, a=np.arange(3), b=np.zeros((0, 2), np.float32))
        write("npz", name, buffer.getvalue())
    head = b"tern tuning record 1\ncpu: cpu\nisa: avx2\nkernels: 1\n"
    write("tuning", "two", head + b"# comment\nConv{group=1} f32[1,8,8,4] f32[4,4,3,3]! -> f32[1,8,8,4] threads=2\t"
          b"cpu.conv.winograd.f2x3.f32=12.5 cpu.conv.nhwc.direct.f32=20\nMatMul{}\tcpu.gemm=1e3 cpu.gemm.packed.f32=1001.25\n")
    write("tuning", "garbage", head + b"a\tb\nc\td=1 e=-1\nf\tg=nan h=2\n\ti=1 j=2\nk\tl=1 m=1e999\n\xff\xfe\tn=1 o=2\n")
    write("tuning", "another", b"tern tuning record 1\ncpu: other\nisa: avx2\nkernels: 1\nx\ta=1 b=2\n")
    write("json", "nested", b'[[1, 2.5], [-3e2, 4]]')
    write("json", "words", b'["a", "b\\n"]')
    write("json", "plain", b"1 2 3\n4 5 6\n")
    write("image", "png", png(2, 2, bytes([0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 1, 2, 3])))
    if len(sys.argv) > 3:
        write("image", "jpg", pathlib.Path(sys.argv[3]).read_bytes())


main()
