"""Text vectorizers."""

from sklearn import decomposition, feature_selection, linear_model, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union

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
    *one("CountVectorizer.words", lambda: CountVectorizer(token_pattern=r"\b\w+\b"), "sentences"),
    *one("CountVectorizer.blanks", lambda: CountVectorizer(token_pattern=r"\S+"), "sentences"),
    *one("CountVectorizer.english", lambda: CountVectorizer(stop_words="english"), "sentences"),
    *one("CountVectorizer.vocabulary", lambda: CountVectorizer(vocabulary=["wave", "wind", "gull"]), "sentences"),
    *one("TfidfVectorizer.chars", lambda: TfidfVectorizer(analyzer="char", ngram_range=(2, 4)), "sentences"),
    *one("TfidfVectorizer.not_smooth", lambda: TfidfVectorizer(smooth_idf=False, binary=True), "sentences"),
    *one("Union.words_chars", lambda: make_union(CountVectorizer(), TfidfVectorizer(analyzer="char")), "sentences"),
    *one("Pipeline.TfidfSVD", lambda: make_pipeline(TfidfVectorizer(), decomposition.TruncatedSVD(3, random_state=0)), "sentences"),
    *one("TfidfTransformer", TfidfTransformer, "counts"),
    *classifier("Pipeline.TfidfLogistic", lambda: make_pipeline(TfidfVectorizer(), linear_model.LogisticRegression(max_iter=200)),
                "sentences")[:2],
    *classifier("Pipeline.KBest", lambda: make_pipeline(CountVectorizer(), feature_selection.SelectKBest(feature_selection.chi2, k=5),
                                                        linear_model.LogisticRegression()), "sentences")[:1],
    *one("Pipeline.CountsBayes", lambda: make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB()), "sentences", zipmap=True),
]
