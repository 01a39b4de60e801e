"""Single trees, forests, bagging and scikit-learn's own boosting."""

from sklearn import ensemble, tree

from case import classifier, one

FEW = {"n_estimators": 12, "random_state": 0}

CASES = [
    *classifier("DecisionTreeClassifier", lambda: tree.DecisionTreeClassifier(max_depth=5, random_state=0)),
    *classifier("ExtraTreeClassifier", lambda: tree.ExtraTreeClassifier(max_depth=6, random_state=0), "binary"),
    *classifier("RandomForestClassifier", lambda: ensemble.RandomForestClassifier(max_depth=6, **FEW)),
    *classifier("RandomForestClassifier.binary", lambda: ensemble.RandomForestClassifier(**FEW), "binary"),
    *classifier("ExtraTreesClassifier", lambda: ensemble.ExtraTreesClassifier(max_depth=6, **FEW), "four"),
    *classifier("GradientBoostingClassifier", lambda: ensemble.GradientBoostingClassifier(**FEW)),
    *classifier("GradientBoostingClassifier.binary", lambda: ensemble.GradientBoostingClassifier(**FEW), "binary"),
    *classifier("HistGradientBoostingClassifier", lambda: ensemble.HistGradientBoostingClassifier(max_iter=8)),
    *one("HistGradientBoostingClassifier.missing", lambda: ensemble.HistGradientBoostingClassifier(max_iter=8), "missing",
         zipmap=True),
    *classifier("AdaBoostClassifier", lambda: ensemble.AdaBoostClassifier(**FEW)),
    *classifier("BaggingClassifier", lambda: ensemble.BaggingClassifier(tree.DecisionTreeClassifier(max_depth=4), **FEW)),
    *one("DecisionTreeClassifier.decision_path", lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0), "multi",
         zipmap=False, options={"decision_path": True}),
    *one("DecisionTreeClassifier.decision_leaf", lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0), "multi",
         zipmap=False, options={"decision_leaf": True}),
    *one("RandomForestClassifier.strange", lambda: ensemble.RandomForestClassifier(**FEW), "strange", zipmap=True),
    *one("RandomForestClassifier.whole", lambda: ensemble.RandomForestClassifier(**FEW), "whole_text", zipmap=True),
    *one("RandomForestClassifier.f64", lambda: ensemble.RandomForestClassifier(**FEW), "multi_text", zipmap=False, f64=True),
    *one("RandomForestClassifier.outputs", lambda: ensemble.RandomForestClassifier(**FEW), "multi_output", zipmap=False),
    *one("DecisionTreeRegressor", lambda: tree.DecisionTreeRegressor(max_depth=6, random_state=0), "regression"),
    *one("DecisionTreeRegressor.two", lambda: tree.DecisionTreeRegressor(max_depth=6, random_state=0), "two"),
    *one("ExtraTreeRegressor", lambda: tree.ExtraTreeRegressor(random_state=0), "regression"),
    *one("RandomForestRegressor", lambda: ensemble.RandomForestRegressor(**FEW), "regression"),
    *one("RandomForestRegressor.two", lambda: ensemble.RandomForestRegressor(**FEW), "two"),
    *one("ExtraTreesRegressor", lambda: ensemble.ExtraTreesRegressor(**FEW), "regression"),
    *one("GradientBoostingRegressor", lambda: ensemble.GradientBoostingRegressor(**FEW), "regression"),
    *one("GradientBoostingRegressor.quantile", lambda: ensemble.GradientBoostingRegressor(loss="quantile", **FEW),
         "regression"),
    *one("HistGradientBoostingRegressor", lambda: ensemble.HistGradientBoostingRegressor(max_iter=8), "regression"),
    *one("HistGradientBoostingRegressor.poisson", lambda: ensemble.HistGradientBoostingRegressor(loss="poisson", max_iter=8),
         "positive"),
    *one("AdaBoostRegressor", lambda: ensemble.AdaBoostRegressor(**FEW), "regression"),
    *one("BaggingRegressor", lambda: ensemble.BaggingRegressor(**FEW), "regression"),
]
