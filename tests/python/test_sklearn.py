"""Models of scikit-learn, converted by skl2onnx and fed as its gallery does. Skipped where these packages are missing."""

import unittest

import numpy as np
import onnxruntime
import tern
import tern.onnxruntime

try:
    import pandas as pd
    from skl2onnx import to_onnx
    from sklearn.compose import ColumnTransformer
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from None


class Gallery(unittest.TestCase):
    def both(self, data, feed):
        """Runs the same program with both packages. Returns what tern.onnxruntime gave."""
        ours, theirs = (package.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, feed)
                        for package in (tern.onnxruntime, onnxruntime))
        np.testing.assert_array_equal(ours[0], theirs[0])
        return ours, theirs

    def test_classifier_with_and_without_zipmap(self):
        x, y = load_iris(return_X_y=True)
        x = x.astype(np.float32)
        for model in (LogisticRegression(max_iter=500), RandomForestClassifier(10, random_state=0)):
            model.fit(x, y)
            for zipmap in (True, False, "columns"):
                data = to_onnx(model, x[:1], options={"zipmap": zipmap}).SerializeToString()
                ours, theirs = self.both(data, {"X": x})
                if zipmap is True:
                    self.assertEqual([sorted(row) for row in ours[1]], [sorted(row) for row in theirs[1]])
                    np.testing.assert_allclose([row[1] for row in ours[1]], [row[1] for row in theirs[1]], atol=1e-6)
                else:
                    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)
                np.testing.assert_array_equal(ours[0], model.predict(x))

    def test_text(self):
        texts = np.array([["the cat sat"], ["a dog ran"], ["the dog sat"], ["no cats"]])
        model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts.ravel(), [0, 1, 1, 0])
        data = to_onnx(model, texts, options={"zipmap": False}).SerializeToString()
        ours, theirs = self.both(data, {"X": texts})
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)

    def test_data_frame(self):
        frame = pd.DataFrame({"age": [20, 30, 40, 50], "fare": [7.0, 8.5, 9.0, 30.0], "sex": ["m", "f", "f", "m"]})
        frame = frame.astype({"age": np.float32, "fare": np.float32})
        model = make_pipeline(ColumnTransformer([("number", StandardScaler(), ["age", "fare"]), ("text", OneHotEncoder(), ["sex"])]),
                              LogisticRegression()).fit(frame, [0, 1, 1, 0])
        data = to_onnx(model, frame[:1], options={"zipmap": False}).SerializeToString()
        ours, theirs = self.both(data, {name: frame[[name]].to_numpy() for name in frame.columns})
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)
        outputs = tern.load(data)(frame)  # the columns of a data frame are the inputs
        np.testing.assert_array_equal(outputs[0], model.predict(frame))


if __name__ == "__main__":
    unittest.main()
