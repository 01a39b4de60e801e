"""Pipelines, feature unions, and tables with columns of several types."""

from sklearn import decomposition, ensemble, feature_selection, impute, linear_model, preprocessing, svm
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union

from case import classifier, one


def columns():
    return make_column_transformer(
        (make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), ["age", "fare"]),
        (preprocessing.OneHotEncoder(handle_unknown="ignore"), ["port", "cabin"]))


def forest():
    return ensemble.RandomForestClassifier(8, max_depth=5, random_state=0)


CASES = [
    *classifier("Pipeline.ScaledSVC", lambda: make_pipeline(preprocessing.StandardScaler(),
                                                            svm.SVC(probability=True, random_state=0))),
    *classifier("Pipeline.PcaForest", lambda: make_pipeline(decomposition.PCA(3), forest())),
    *one("Pipeline.PolynomialRidge", lambda: make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.Ridge()),
         "regression"),
    *one("Pipeline.ImputeForest", lambda: make_pipeline(impute.SimpleImputer(), forest()), "missing", zipmap=True),
    *one("Pipeline.Select", lambda: make_pipeline(feature_selection.SelectKBest(k=4), preprocessing.MinMaxScaler(),
                                                  linear_model.LogisticRegression(max_iter=200)), "multi_text", zipmap=True),
    *one("FeatureUnion", lambda: make_union(preprocessing.StandardScaler(), decomposition.PCA(2)), "multi"),
    *one("FeatureUnion.Logistic", lambda: make_pipeline(make_union(preprocessing.MinMaxScaler(), decomposition.PCA(2)),
                                                        linear_model.LogisticRegression(max_iter=200)), "multi", zipmap=True),
    *one("ColumnTransformer", columns, "frame"),
    *one("ColumnTransformer.Logistic", lambda: make_pipeline(columns(), linear_model.LogisticRegression(max_iter=200)), "frame",
         zipmap=True),
    *one("ColumnTransformer.Forest", lambda: make_pipeline(columns(), forest()), "frame", zipmap=False),
    *one("ColumnTransformer.Text", lambda: make_column_transformer((TfidfVectorizer(), 0)), "column"),
    *one("GridSearchCV", lambda: GridSearchCV(linear_model.LogisticRegression(max_iter=200), {"C": [0.1, 1.0]}, cv=3), "multi",
         zipmap=False),
    *one("GridSearchCV.regression", lambda: GridSearchCV(linear_model.Ridge(), {"alpha": [0.1, 1.0]}, cv=3), "regression"),
]
