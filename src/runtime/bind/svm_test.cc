// Compares kernels of support vector machines with the reference functions, at every instruction set.
#include <cmath>
#include <random>

#include "ir/builder.h"
#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

using Ints = std::vector<int64_t>;

std::vector<double> Random(int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<double>(engine() % 2001) / 1000 - 1);
  return out;
}

class SvmLevels : public cpu::EachLevel {
 protected:
  // Runs with 1 and 3 threads. A kernel must run the op. Labels must equal those of the reference function,
  // and scores must be within `tolerance`.
  void Check(const char* op, const Tensor& x, const AttrList& attrs, int outputs, double tolerance = 2e-5) {
    InitOps();
    auto graph = std::make_shared<Graph>();
    Builder b(*graph);
    Value* in = graph->AddInput("x", Type::TensorOf(x.dtype(), Shape::Of(x.dims())));
    graph->SetOutputs(b.Ops(op, {in}, attrs, outputs));
    ASSERT_TRUE(b.status().ok()) << b.status().ToString();
    auto want = EvaluateGraph(*graph, {x});
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    for (int threads : {1, 3}) {
      SessionOptions options;
      options.threads = threads;
      auto session = SessionOf(graph, options);
      auto got = session->Run(DatumList{x});
      ASSERT_TRUE(got.ok()) << got.status().ToString();
      EXPECT_TRUE(session->Fallbacks().empty()) << op << " " << x.Describe();
      for (size_t i = 0; i < want->size(); ++i) Compare((*got)[i].tensor, (*want)[i].tensor, tolerance);
    }
  }

  static void Compare(const Tensor& got, const Tensor& want, double tolerance) {
    ASSERT_EQ(got.Describe(), want.Describe());
    for (int64_t j = 0; j < got.size(); ++j) {
      const double a = LoadDouble(got, j), e = LoadDouble(want, j);
      const double max_error = IsInt(got.dtype()) ? 0 : tolerance * (1 + std::fabs(e));
      ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e)) || std::fabs(a - e) <= max_error)
          << "element " << j << " of " << got.Describe() << ": " << a << " for " << e;
    }
  }
};

AttrList Kernel(const char* kernel, float degree = 3) {
  return {{"kernel", std::string(kernel)},
          {"gamma", 0.3},
          {"coef0", 0.7},
          {"degree", static_cast<double>(degree)}};
}

AttrList Classifier(const char* kernel, const Ints& per_class, int64_t width, bool probabilities,
                    float degree = 3) {
  const auto classes = static_cast<int64_t>(per_class.size()), pairs = classes * (classes - 1) / 2;
  int64_t vectors = 0;
  Ints labels;
  for (int64_t n : per_class) {
    vectors += n;
    labels.push_back(7 - 3 * static_cast<int64_t>(labels.size()));
  }
  AttrList attrs = Kernel(kernel, degree);
  attrs.insert(attrs.end(), {{"vectors", Random(vectors * width, 1)},
                             {"coefficients", Random(vectors * (classes - 1), 2)},
                             {"rho", Random(pairs, 3)},
                             {"per_class", per_class},
                             {"label_ints", labels}});
  if (probabilities) {
    attrs.emplace_back("prob_a", Random(pairs, 4));
    attrs.emplace_back("prob_b", Random(pairs, 5));
  }
  return attrs;
}

TEST_P(SvmLevels, ClassesOfPairs) {
  for (const char* kernel : {"linear", "poly", "rbf", "sigmoid"})
    for (const Ints& per_class : {Ints{3, 2}, Ints{30, 9, 27}, Ints{1, 0, 5, 2, 40}})
      for (const int64_t width : {1, 6, 33})
        for (const bool probabilities : {false, true}) {
          const AttrList attrs = Classifier(kernel, per_class, width, probabilities);
          for (const Dims& dims : {Dims{131, width}, Dims{width}, Dims{0, width}})
            Check("SVMClassifier", Tensor::Of(DType::kF32, dims, Random(CountOf(dims), 6)), attrs, 2);
        }
}

TEST_P(SvmLevels, TypesAndTransforms) {
  for (const DType type : {DType::kF64, DType::kI64, DType::kI32})
    for (const char* transform : {"none", "softmax", "logistic", "softmax_zero"}) {
      AttrList attrs = Classifier("rbf", {4, 5, 6}, 5, false);
      attrs.emplace_back("transform", std::string(transform));
      std::vector<double> values = Random(45, 8);
      if (IsInt(type))
        for (double& v : values) v = std::round(v * 3);
      for (const int outputs : {1, 2})
        Check("SVMClassifier", Tensor::Of(type, {9, 5}, values), attrs, outputs);
    }
}

TEST_P(SvmLevels, PowersOfAllKinds) {
  for (const float degree : {0.f, 1.f, 2.f, 5.f, 16.f, 17.f, 2.5f, -1.f})
    Check("SVMClassifier", Tensor::Of(DType::kF32, {20, 4}, Random(80, 9)),
          Classifier("poly", {6, 7}, 4, false, degree), 2, 1e-4);
}

TEST_P(SvmLevels, LinearModels) {
  for (const int64_t classes : {1, 2, 5}) {
    Ints labels;
    for (int64_t k = 0; k < classes; ++k) labels.push_back(k * 2);
    const AttrList attrs{
        {"coefficients", Random(classes * 7, 1)}, {"rho", Random(1, 2)}, {"label_ints", labels}};
    Check("SVMClassifier", Tensor::Of(DType::kF32, {50, 7}, Random(350, 3)), attrs, 2);
  }
  const AttrList attrs{{"coefficients", Random(7, 1)}, {"rho", Random(1, 2)}};
  Check("SVMRegressor", Tensor::Of(DType::kF32, {50, 7}, Random(350, 3)), attrs, 1);
}

TEST_P(SvmLevels, Regressors) {
  for (const char* kernel : {"linear", "poly", "rbf", "sigmoid"})
    for (const int64_t supports : {1, 32, 75})
      for (const bool one_class : {false, true}) {
        AttrList attrs = Kernel(kernel);
        attrs.insert(attrs.end(), {{"vectors", Random(supports * 9, 1)},
                                   {"coefficients", Random(supports, 2)},
                                   {"rho", Random(1, 3)},
                                   {"supports", supports},
                                   {"one_class", one_class}});
        for (const Dims& dims : {Dims{70, 9}, Dims{9}, Dims{3, 9}})
          Check("SVMRegressor", Tensor::Of(DType::kF32, dims, Random(CountOf(dims), 4)), attrs, 1);
      }
}

TEST_P(SvmLevels, NanAndInfinity) {
  std::vector<double> values = Random(24, 1);
  values[1] = std::nan(""), values[7] = INFINITY, values[13] = -INFINITY;
  for (const char* kernel : {"linear", "rbf"})
    Check("SVMClassifier", Tensor::Of(DType::kF32, {6, 4}, values), Classifier(kernel, {6, 7, 2}, 4, false),
          1);
}

INSTANTIATE_TEST_SUITE_P(Simd, SvmLevels, testing::ValuesIn(cpu::LevelsHere()));

}  // namespace
}  // namespace tern
