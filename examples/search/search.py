"""Searches the documentation for the paragraphs nearest in meaning to a question. usage: search.py DOCS OUTPUT QUESTION…

The model is a bag of words reduced to 64 numbers (latent semantic analysis). It is trained on the paragraphs, converted to ONNX, and takes text.
"""
import pathlib
import re
import sys

import numpy as np
import tern
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

docs, output, *questions = sys.argv[1:]
text = [(path.stem, re.sub(r"```.*?```|\]\(.*?\)|[`\[*|#]", "", path.read_text(), flags=re.S)) for path in sorted(pathlib.Path(docs).rglob("*.md"))]
found = [(name, " ".join(part.split())) for name, page in text for part in page.split("\n\n")]
found = [(name, part) for name, part in found if 60 < len(part) < 600]
paragraphs = np.array([[part] for _, part in found])

encoder = make_pipeline(TfidfVectorizer(stop_words="english", token_pattern="[a-zA-Z]+", sublinear_tf=True), TruncatedSVD(64, random_state=0))
encoder.fit(paragraphs[:, 0])
model = to_onnx(encoder, initial_types=[("text", StringTensorType([None, 1]))]).SerializeToString()
pathlib.Path(output).write_bytes(model)
predictor = tern.load(model)


def embed(strings):
    vectors = predictor(np.asarray(strings, object).reshape(-1, 1))[0]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


vectors = embed(paragraphs)
for question, nearness in zip(questions, embed(questions) @ vectors.T):
    best = np.argmax(nearness)
    print(f"{question}\n  {nearness[best]:.2f} {found[best][0]}: {found[best][1][:90]}…")
