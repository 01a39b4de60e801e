"""Text vectorizers."""

from sklearn import linear_model, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from case import classifier, one

CASES = [
    *one("CountVectorizer", CountVectorizer, "sentences"),
    *one("CountVectorizer.binary", lambda: CountVectorizer(binary=True, min_df=3), "sentences"),
    *one("CountVectorizer.bigrams", lambda: CountVectorizer(ngram_range=(1, 2), token_pattern="[a-zA-Z]+"), "sentences"),
    *one("CountVectorizer.stop_words", lambda: CountVectorizer(stop_words=["wave", "wind"]), "sentences"),
    *one("CountVectorizer.chars", lambda: CountVectorizer(analyzer="char", ngram_range=(1, 2)), "sentences"),
    *one("CountVectorizer.case", lambda: CountVectorizer(lowercase=False), "sentences"),
    *one("TfidfVectorizer", TfidfVectorizer, "sentences"),
    *one("TfidfVectorizer.sublinear", lambda: TfidfVectorizer(sublinear_tf=True, norm="l1"), "sentences"),
    *one("TfidfVectorizer.bigrams", lambda: TfidfVectorizer(ngram_range=(1, 2), max_features=40), "sentences"),
    *one("TfidfVectorizer.no_idf", lambda: TfidfVectorizer(use_idf=False, norm=None), "sentences"),
    *one("TfidfTransformer", TfidfTransformer, "counts"),
    *classifier("Pipeline.TfidfLogistic", lambda: make_pipeline(TfidfVectorizer(), linear_model.LogisticRegression(max_iter=200)),
                "sentences")[:2],
    *one("Pipeline.CountsBayes", lambda: make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()), "sentences", zipmap=True),
]
