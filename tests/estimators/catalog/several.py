"""Meta-estimators, which combine other estimators: one per class or output, calibration, voting, stacking."""

from sklearn import calibration, ensemble, linear_model, multiclass, multioutput, naive_bayes, svm, tree

from case import classifier, one


def logistic():
    return linear_model.LogisticRegression(max_iter=200)


def small_tree():
    return tree.DecisionTreeClassifier(max_depth=4, random_state=0)


PAIR = [("logistic", logistic()), ("tree", small_tree())]

CASES = [
    *classifier("OneVsRestClassifier", lambda: multiclass.OneVsRestClassifier(logistic())),
    *classifier("OneVsRestClassifier.tree", lambda: multiclass.OneVsRestClassifier(small_tree()), "four"),
    *classifier("OneVsOneClassifier", lambda: multiclass.OneVsOneClassifier(logistic()))[:2],  # only the cases with integer labels
    *one("OneVsRestClassifier.labels", lambda: multiclass.OneVsRestClassifier(logistic()), "labels", zipmap=False),
    *classifier("CalibratedClassifierCV.sigmoid", lambda: calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), cv=3)),
    *classifier("CalibratedClassifierCV.isotonic",
                lambda: calibration.CalibratedClassifierCV(small_tree(), method="isotonic", cv=3), "binary"),
    *classifier("CalibratedClassifierCV.svm", lambda: calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0), cv=3)),
    *classifier("VotingClassifier.soft", lambda: ensemble.VotingClassifier(PAIR, voting="soft", flatten_transform=False)),
    *one("VotingClassifier.hard", lambda: ensemble.VotingClassifier(PAIR, flatten_transform=False), "multi", zipmap=False),
    *classifier("StackingClassifier", lambda: ensemble.StackingClassifier(PAIR, logistic(), cv=3)),
    *one("VotingRegressor", lambda: ensemble.VotingRegressor([("a", linear_model.Ridge()),
                                                              ("b", tree.DecisionTreeRegressor(max_depth=4))]), "regression"),
    *one("StackingRegressor", lambda: ensemble.StackingRegressor([("a", linear_model.Ridge()),
                                                                  ("b", tree.DecisionTreeRegressor(max_depth=4))], cv=3),
         "regression"),
    *one("MultiOutputClassifier", lambda: multioutput.MultiOutputClassifier(logistic()), "multi_output", zipmap=False),
    *one("MultiOutputRegressor", lambda: multioutput.MultiOutputRegressor(linear_model.SGDRegressor(random_state=0)), "two"),
]
