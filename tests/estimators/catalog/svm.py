"""Support vector machines."""

from sklearn import svm

from case import Case, classifier, one

CASES = [
    *(case for kernel in ("linear", "rbf", "poly", "sigmoid")
      for case in classifier(f"SVC.{kernel}", lambda kernel=kernel: svm.SVC(kernel=kernel, probability=True, random_state=0))),
    *classifier("SVC.binary", lambda: svm.SVC(probability=True, random_state=0), "binary"),
    *classifier("SVC.four", lambda: svm.SVC(gamma=0.2, C=0.5, probability=True, random_state=0), "four"),
    *(Case(f"SVC.votes.{shape}.{data}", lambda shape=shape: svm.SVC(decision_function_shape=shape), data, zipmap=False)
      for shape in ("ovr", "ovo") for data in ("multi", "binary_text")),
    *one("SVC.raw_scores", lambda: svm.SVC(), "multi", zipmap=False, options={"raw_scores": True}),
    *one("SVC.f64", lambda: svm.SVC(probability=True, random_state=0), "multi", zipmap=False, f64=True),
    *one("SVC.poly5", lambda: svm.SVC(kernel="poly", degree=5, coef0=1.5), "binary", zipmap=False),
    *classifier("NuSVC", lambda: svm.NuSVC(nu=0.3, probability=True, random_state=0)),
    *one("LinearSVC", lambda: svm.LinearSVC(random_state=0), "multi"),
    *one("LinearSVC.binary_text", lambda: svm.LinearSVC(random_state=0), "binary_text"),
    *(Case(f"SVR.{kernel}", lambda kernel=kernel: svm.SVR(kernel=kernel), "regression")
      for kernel in ("linear", "rbf", "poly", "sigmoid")),
    *one("NuSVR", lambda: svm.NuSVR(nu=0.4), "regression"),
    *one("LinearSVR", lambda: svm.LinearSVR(random_state=0), "regression"),
    *(Case(f"OneClassSVM.{kernel}", lambda kernel=kernel: svm.OneClassSVM(kernel=kernel, nu=0.2), "multi")
      for kernel in ("rbf", "linear", "poly", "sigmoid")),
]
