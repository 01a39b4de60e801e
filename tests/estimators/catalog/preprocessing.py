"""Scalers, encoders, imputers, selectors."""

import numpy as np
from sklearn import ensemble, feature_selection, impute, linear_model, preprocessing

from case import one

SCALERS = {
    "StandardScaler": preprocessing.StandardScaler,
    "StandardScaler.mean": lambda: preprocessing.StandardScaler(with_std=False),
    "MinMaxScaler": preprocessing.MinMaxScaler,
    "MinMaxScaler.clip": lambda: preprocessing.MinMaxScaler((-1, 2), clip=True),
    "MaxAbsScaler": preprocessing.MaxAbsScaler,
    "RobustScaler": preprocessing.RobustScaler,
    "Normalizer.l1": lambda: preprocessing.Normalizer("l1"),
    "Normalizer.l2": preprocessing.Normalizer,
    "Normalizer.max": lambda: preprocessing.Normalizer("max"),
    "Binarizer": lambda: preprocessing.Binarizer(threshold=0.3),
    "PolynomialFeatures": preprocessing.PolynomialFeatures,
    "PolynomialFeatures.interactions": lambda: preprocessing.PolynomialFeatures(3, interaction_only=True, include_bias=False),
    "PowerTransformer": preprocessing.PowerTransformer,
    "QuantileTransformer": lambda: preprocessing.QuantileTransformer(n_quantiles=20),
    "KBinsDiscretizer.onehot": lambda: preprocessing.KBinsDiscretizer(4, encode="onehot-dense"),
    "KBinsDiscretizer.ordinal": lambda: preprocessing.KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    "VarianceThreshold": lambda: feature_selection.VarianceThreshold(0.5),
    "SelectKBest": lambda: feature_selection.SelectKBest(k=3),
    "SelectPercentile": lambda: feature_selection.SelectPercentile(percentile=50),
    "SelectFpr": lambda: feature_selection.SelectFpr(),
    "SelectFdr": lambda: feature_selection.SelectFdr(),
    "SelectFwe": lambda: feature_selection.SelectFwe(),
    "GenericUnivariateSelect": lambda: feature_selection.GenericUnivariateSelect(mode="k_best", param=2),
    "SelectFromModel": lambda: feature_selection.SelectFromModel(ensemble.ExtraTreesClassifier(5, random_state=0)),
    "RFE": lambda: feature_selection.RFE(linear_model.LogisticRegression(), n_features_to_select=3),
    "RFECV": lambda: feature_selection.RFECV(linear_model.LogisticRegression(), cv=3),
    "FunctionTransformer": preprocessing.FunctionTransformer,
}

CASES = [
    *(case for name, make in SCALERS.items() for case in one(name, make, "multi")),
    *one("StandardScaler.f64", preprocessing.StandardScaler, "multi", f64=True),
    *one("StandardScaler.whole", preprocessing.StandardScaler, "whole"),
    *one("PowerTransformer.box_cox", lambda: preprocessing.PowerTransformer(method="box-cox"), "positive_inputs"),
    *one("SimpleImputer.mean", impute.SimpleImputer, "missing"),
    *one("SimpleImputer.median", lambda: impute.SimpleImputer(strategy="median"), "missing"),
    *one("SimpleImputer.constant", lambda: impute.SimpleImputer(strategy="constant", fill_value=-1.5), "missing"),
    *one("SimpleImputer.text", lambda: impute.SimpleImputer(strategy="most_frequent", missing_values="tern"), "categories"),
    *one("KNNImputer", lambda: impute.KNNImputer(n_neighbors=3), "missing"),
    *one("OneHotEncoder", lambda: preprocessing.OneHotEncoder(handle_unknown="ignore"), "categories"),
    *one("OneHotEncoder.dense", lambda: preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), "categories_whole"),
    *one("OrdinalEncoder", lambda: preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
         "categories"),
    *one("OrdinalEncoder.whole", lambda: preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1,
                                                                      dtype=np.int64), "categories_whole"),
    *one("TargetEncoder", lambda: preprocessing.TargetEncoder(random_state=0), "categories_binary"),
]
