// Support vector machines: kernels and attributes that the classifier and the regressor share.
#pragma once
#include "ops/ml/forest.h"

namespace tern {

enum class SvmKernel { kLinear, kPoly, kRbf, kSigmoid };

struct SvmModel {
  SvmKernel kernel = SvmKernel::kLinear;
  float gamma = 0, coef0 = 0, degree = 0;
  std::vector<float> vectors, coefficients, rho;
  template <class V> void Visit(V& v) {
    v.Enum("kernel", kernel, {"linear", "poly", "rbf", "sigmoid"}, "the kernel function");
    v("gamma", gamma, "factor inside poly, rbf and sigmoid");
    v("coef0", coef0, "constant term of poly and sigmoid");
    v("degree", degree, "exponent of poly");
    v("vectors", vectors, "support vectors, concatenated; empty means a linear model");
    v("coefficients", coefficients, "weights of the support vectors, or of the features of a linear model");
    v("rho", rho, "the constant term of each pair of classes, or of the model");
  }
};

// Returns the kernel function of two vectors of `size` numbers.
double SimilarityOf(const SvmModel& m, const double* a, const float* b, int64_t size);

}  // namespace tern
