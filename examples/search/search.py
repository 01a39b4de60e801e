"""Finds the notes nearest in meaning to a question. usage: search.py NOTES MODEL QUESTION…

The encoder is a bag of words reduced to 16 numbers (latent semantic analysis). It is trained on the notes, converted to ONNX, and takes text.
"""
import pathlib
import sys

import numpy as np
import tern
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

path, output, *questions = sys.argv[1:]
notes = pathlib.Path(path).read_text().splitlines()
encoder = make_pipeline(TfidfVectorizer(stop_words="english", token_pattern="[a-zA-Z]+"), TruncatedSVD(16, random_state=0))
encoder.fit(notes)
model = to_onnx(encoder, initial_types=[("text", StringTensorType([None, 1]))]).SerializeToString()
pathlib.Path(output).write_bytes(model)
predictor = tern.load(model)


def embed(strings):
    """Returns one vector of length 1 per string."""
    vectors = predictor(np.array(strings, object).reshape(-1, 1))[0]
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


vectors = embed(notes)
for question, nearness in zip(questions, embed(questions) @ vectors.T):
    print(question)
    for i in np.argsort(-nearness)[:2]:
        print(f"  {nearness[i]:.2f} {notes[i]}")
