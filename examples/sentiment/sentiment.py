"""Trains a scikit-learn pipeline on sentences, converts it, and runs it on text. usage: sentiment.py FOLDER OUTPUT"""
import csv
import pathlib
import sys

import numpy as np
import tern
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline


def read(path):
    rows = list(csv.reader(open(path), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return np.array([row[0] for row in rows], object), np.array([int(row[1]) for row in rows])


folder, output = map(pathlib.Path, sys.argv[1:])
sentences, labels = read(folder / "train.tsv")
model = make_pipeline(TfidfVectorizer(token_pattern="[a-zA-Z]+", ngram_range=(1, 2), min_df=3), LogisticRegression(C=10, max_iter=300))
model.fit(sentences[:20000], labels[:20000])

onnx = to_onnx(model, initial_types=[("text", StringTensorType([None, 1]))], options={"zipmap": False})
output.write_bytes(onnx.SerializeToString())
predictor = tern.load(str(output))

sentences, labels = read(folder / "test.tsv")
for name, result in (("scikit-learn", model.predict_proba(sentences)), ("Tern", predictor(sentences.reshape(-1, 1))["probabilities"])):
    print(f"{name}: {(result.argmax(axis=1) == labels).mean():.1%} of {len(labels)} sentences right")
for text in ("a moving and funny film", "two hours of my life that i want back"):
    p = predictor(np.array([[text]], object))["probabilities"][0, 1]
    print(f"{p:.2f} {text}")
