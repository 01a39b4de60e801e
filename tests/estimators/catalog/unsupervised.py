"""Clustering, outlier detection, decompositions, projections."""

from sklearn import cluster, cross_decomposition, decomposition, ensemble, mixture, neighbors, random_projection

from case import Case, one

TRANSFORMERS = {
    "PCA": lambda: decomposition.PCA(3),
    "PCA.whiten": lambda: decomposition.PCA(4, whiten=True),
    "IncrementalPCA": lambda: decomposition.IncrementalPCA(3),
    "KernelPCA.rbf": lambda: decomposition.KernelPCA(3, kernel="rbf", gamma=0.2),
    "KernelPCA.poly": lambda: decomposition.KernelPCA(3, kernel="poly", gamma=0.1),
    "KernelPCA.cosine": lambda: decomposition.KernelPCA(3, kernel="cosine"),
    "TruncatedSVD": lambda: decomposition.TruncatedSVD(3, random_state=0),
    "GaussianRandomProjection": lambda: random_projection.GaussianRandomProjection(3, random_state=0),
}

CASES = [
    *(case for name, make in TRANSFORMERS.items() for case in one(name, make, "multi")),
    *one("KMeans", lambda: cluster.KMeans(4, n_init=2, random_state=0), "multi"),
    *one("MiniBatchKMeans", lambda: cluster.MiniBatchKMeans(4, n_init=2, random_state=0), "multi"),
    *one("KMeans.f64", lambda: cluster.KMeans(4, n_init=2, random_state=0), "multi", f64=True),
    *(Case(f"GaussianMixture.{kind}", lambda kind=kind: mixture.GaussianMixture(3, covariance_type=kind, random_state=0),
           "multi", options={"score_samples": True}) for kind in ("full", "tied", "diag", "spherical")),
    *one("BayesianGaussianMixture", lambda: mixture.BayesianGaussianMixture(n_components=3, random_state=0), "multi"),
    *one("IsolationForest", lambda: ensemble.IsolationForest(n_estimators=10, random_state=0), "multi"),
    *one("LocalOutlierFactor", lambda: neighbors.LocalOutlierFactor(n_neighbors=8, novelty=True), "multi"),
    *one("PLSRegression", lambda: cross_decomposition.PLSRegression(2), "two"),
    *one("RandomTreesEmbedding", lambda: ensemble.RandomTreesEmbedding(n_estimators=4, max_depth=3, sparse_output=False, random_state=0), "multi"),
]
