"""Nearest neighbours and Gaussian processes."""

from sklearn import gaussian_process, neighbors
from sklearn.gaussian_process import kernels

from case import Case, classifier, one

PROCESS = "in the converted model, large terms of opposite signs cancel when the kernel matrix is computed"

CASES = [
    *classifier("KNeighborsClassifier", lambda: neighbors.KNeighborsClassifier(5)),
    *classifier("KNeighborsClassifier.distance", lambda: neighbors.KNeighborsClassifier(4, weights="distance"), "binary"),
    *one("KNeighborsClassifier.manhattan", lambda: neighbors.KNeighborsClassifier(3, metric="manhattan"), "multi", zipmap=True),
    *one("KNeighborsClassifier.minkowski", lambda: neighbors.KNeighborsClassifier(3, p=3), "multi", zipmap=False),
    *one("KNeighborsRegressor", lambda: neighbors.KNeighborsRegressor(5), "regression"),
    *one("KNeighborsRegressor.distance", lambda: neighbors.KNeighborsRegressor(4, weights="distance"), "two"),
    *one("KNeighborsTransformer", lambda: neighbors.KNeighborsTransformer(n_neighbors=3), "regression"),
    *one("NearestNeighbors", lambda: neighbors.NearestNeighbors(n_neighbors=3, radius=None), "regression"),
    *one("NeighborhoodComponentsAnalysis", lambda: neighbors.NeighborhoodComponentsAnalysis(3, random_state=0, max_iter=10),
         "multi"),
    *(Case(f"GaussianProcessRegressor.{name}",
           lambda kernel=kernel: gaussian_process.GaussianProcessRegressor(kernel, alpha=0.05, normalize_y=True),
           "regression", f64=True)
      for name, kernel in {"rbf": kernels.RBF(2.0), "constant": kernels.ConstantKernel(2.0) * kernels.RBF(1.5),
                           "rational": kernels.RationalQuadratic(1.5), "matern": kernels.Matern(2.0, nu=1.5),
                           "dot": kernels.DotProduct() + kernels.WhiteKernel(0.1)}.items()),
    *one("GaussianProcessRegressor.f32", lambda: gaussian_process.GaussianProcessRegressor(alpha=0.1), "regression",
         rtol=1e-4, atol=1e-4, why=PROCESS),
    *one("GaussianProcessRegressor.std", lambda: gaussian_process.GaussianProcessRegressor(kernels.RBF(2.0), alpha=0.05),
         "regression", f64=True, options={"return_std": True}),
]
