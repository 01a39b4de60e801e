"""LightGBM and XGBoost, which onnxmltools converts."""

import lightgbm
import xgboost
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from case import Case, classifier, one

LGBM = {"n_estimators": 10, "num_leaves": 8, "min_child_samples": 5, "verbose": -1, "n_jobs": 1, "random_state": 0}
XGB = {"n_estimators": 10, "max_depth": 4, "n_jobs": 1, "random_state": 0}


def lgbm(name, data, kind=lightgbm.LGBMRegressor, **options):
    return one(f"LGBMRegressor.{name}", lambda: kind(**LGBM, **options), data, converter="lightgbm")


def xgb(name, data, **options):
    return one(f"XGBRegressor.{name}", lambda: xgboost.XGBRegressor(**XGB, **options), data, converter="xgboost")


def xgb_classifier(name, data, **options):
    return one(f"XGBClassifier.{name}", lambda: xgboost.XGBClassifier(**XGB, **options), data, converter="xgboost")


CASES = [
    *classifier("LGBMClassifier", lambda: lightgbm.LGBMClassifier(**LGBM), converter="lightgbm"),
    *classifier("LGBMClassifier.binary", lambda: lightgbm.LGBMClassifier(**LGBM), "binary", converter="lightgbm"),
    *classifier("LGBMClassifier.dart", lambda: lightgbm.LGBMClassifier(boosting_type="dart", **LGBM), "binary",
                converter="lightgbm"),
    Case("LGBMClassifier.ova", lambda: lightgbm.LGBMClassifier(objective="multiclassova", **LGBM), "multi", "lightgbm", True),
    Case("LGBMClassifier.missing", lambda: lightgbm.LGBMClassifier(**LGBM), "missing", "lightgbm", True),
    Case("LGBMClassifier.forest", lambda: lightgbm.LGBMClassifier(boosting_type="rf", bagging_freq=1, subsample=0.7, **LGBM),
         "binary", "lightgbm", True),
    *lgbm("l2", "regression"),
    *lgbm("l1", "regression", objective="regression_l1"),
    *lgbm("huber", "regression", objective="huber"),
    *lgbm("quantile", "regression", objective="quantile"),
    *lgbm("poisson", "positive", objective="poisson"),
    *lgbm("gamma", "positive", objective="gamma"),
    *lgbm("tweedie", "positive", objective="tweedie"),
    *lgbm("forest", "regression", boosting_type="rf", bagging_freq=1, subsample=0.7),
    *xgb_classifier("multi", "multi"),
    *xgb_classifier("binary", "binary"),
    *xgb_classifier("missing", "missing"),
    *xgb_classifier("softmax", "multi", objective="multi:softmax"),
    *xgb_classifier("hinge", "binary", objective="binary:hinge"),
    *xgb_classifier("deep", "multi", grow_policy="lossguide", max_leaves=9),
    *xgb("squared", "regression"),
    *xgb("absolute", "regression", objective="reg:absoluteerror"),
    *xgb("logistic", "binary", objective="reg:logistic"),
    *xgb("poisson", "positive", objective="count:poisson"),
    *xgb("tweedie", "positive", objective="reg:tweedie"),
    *xgb("gamma", "positive", objective="reg:gamma"),
    *xgb("forest", "regression", num_parallel_tree=3),
    *classifier("Pipeline.LGBMClassifier", lambda: make_pipeline(StandardScaler(), lightgbm.LGBMClassifier(**LGBM)),
                converter="registered"),
    Case("Pipeline.XGBClassifier", lambda: make_pipeline(StandardScaler(), xgboost.XGBClassifier(**XGB)), "multi",
         "registered", True),
    Case("Pipeline.XGBRegressor", lambda: make_pipeline(StandardScaler(), xgboost.XGBRegressor(**XGB)), "regression",
         "registered"),
]
