// Compares kernels of ai.onnx.ml ops with their reference functions.
#include <cmath>
#include <random>

#include "ir/builder.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

using Ints = std::vector<int64_t>;

std::vector<double> Random(int64_t count, unsigned seed, bool halves = false) {
  std::mt19937 engine(seed);
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) {
    const double v = static_cast<double>(engine() % 2001) / 250 - 4;
    out.push_back(halves ? std::round(v * 2) / 2 : v);
  }
  return out;
}

// Runs the op with 1 and 3 threads. Expects that a kernel runs it, and that the results equal those of the
// reference function within `tolerance`.
void Check(const char* op, const Tensor& x, const AttrList& attrs, int outputs, double tolerance = 0) {
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
    for (size_t i = 0; i < want->size(); ++i) {
      const Tensor &g = (*got)[i].tensor, &w = (*want)[i].tensor;
      ASSERT_EQ(g.dtype(), w.dtype());
      ASSERT_EQ(g.dims(), w.dims());
      for (int64_t j = 0; j < g.size(); ++j) {
        const double a = LoadDouble(g, j), e = LoadDouble(w, j);
        ASSERT_TRUE(a == e || (std::isnan(a) && std::isnan(e)) ||
                    std::fabs(a - e) <= tolerance * (1 + std::fabs(e)))
            << op << " output " << i << " element " << j << ": " << a << " for " << e;
      }
    }
  }
}

Tensor Rows(DType type, const Dims& dims, unsigned seed) {
  std::vector<double> values = Random(CountOf(dims), seed, true);
  if (IsFloat(type) && values.size() > 9) values[4] = std::nan(""), values[9] = INFINITY;
  if (IsInt(type))
    for (double& v : values) v = std::trunc(v);
  return Tensor::Of(type, dims, values);
}

// Makes trees of seven nodes and eight leaves. The first tree is a single leaf.
AttrList Forest(int trees, DType work, int64_t mode, int64_t targets, unsigned seed) {
  Ints roots{-1}, feature, modes, on_true, on_false, missing, starts{0, 1}, target{0};
  std::mt19937 engine(seed);
  for (int t = 0; t < trees; ++t) {
    const auto node = static_cast<int64_t>(feature.size()), leaf = static_cast<int64_t>(starts.size()) - 1;
    roots.push_back(node);
    for (int64_t i = 0; i < 7; ++i) {
      feature.push_back(static_cast<int64_t>(engine() % 5));
      modes.push_back(mode < 0 ? static_cast<int64_t>(engine() % 7) : mode);
      missing.push_back(mode < 0 ? static_cast<int64_t>(engine() % 2) : 0);
      on_true.push_back(i < 3 ? node + 2 * i + 1 : -1 - (leaf + 2 * (i - 3)));
      on_false.push_back(i < 3 ? node + 2 * i + 2 : -1 - (leaf + 2 * (i - 3) + 1));
    }
    for (int i = 0; i < 8; ++i) {
      for (unsigned v = engine() % 3; v > 0; --v)
        target.push_back(static_cast<int64_t>(engine() % static_cast<unsigned>(targets)));
      starts.push_back(static_cast<int64_t>(target.size()));
    }
  }
  Ints member_start{0};
  std::vector<double> member;
  for (int64_t m : modes)
    if (m == 6) {
      member.insert(member.end(), {1, -0.5});
      member_start.push_back(static_cast<int64_t>(member.size()));
    }
  const auto numbers = [&](const std::vector<double>& v) {
    return Tensor::Of(work, {static_cast<int64_t>(v.size())}, v);
  };
  AttrList attrs{{"roots", roots},
                 {"feature", feature},
                 {"mode", modes},
                 {"value", numbers(Random(static_cast<int64_t>(feature.size()), seed + 1, true))},
                 {"true_child", on_true},
                 {"false_child", on_false},
                 {"missing_true", missing},
                 {"leaf_start", starts},
                 {"vote_target", target},
                 {"vote_weight", numbers(Random(static_cast<int64_t>(target.size()), seed + 2))}};
  if (!member.empty())
    attrs.insert(attrs.end(), {{"member_start", member_start}, {"member", numbers(member)}});
  return attrs;
}

AttrList With(AttrList attrs, const AttrList& extra) {
  attrs.insert(attrs.end(), extra.begin(), extra.end());
  return attrs;
}

TEST(MlKernels, TreeEnsembles) {
  unsigned seed = 0;
  for (const int64_t mode : {0, -1})
    for (const DType x : {DType::kF32, DType::kF64, DType::kI64, DType::kI32, DType::kF16})
      for (const int64_t targets : {1, 3}) {
        const DType work = x == DType::kF64 ? DType::kF64 : DType::kF32;
        const AttrList forest = With(Forest(20, work, mode, targets, ++seed), {{"targets", targets}});
        for (const char* how : {"sum", "average", "min", "max"})
          for (const Dims& dims : {Dims{83, 5}, Dims{3, 6}, Dims{5}, Dims{0, 5}})
            Check("TreeEnsemble", Rows(x, dims, seed), With(forest, {{"aggregate", std::string(how)}}), 1);
        Check("TreeEnsemble", Rows(x, {9, 5}, seed),
              With(forest, {{"transform", std::string("softmax")}, {"base", Random(targets, 1)}}), 1);
      }
  const AttrList wide = With(Forest(5, DType::kF64, 0, 2, 7), {{"targets", int64_t{2}}, {"to", DType::kF64}});
  Check("TreeEnsemble", Rows(DType::kF64, {9, 5}, 3), wide, 1);
}

TEST(MlKernels, TreeEnsembleClassifiers) {
  for (const int64_t classes : {1, 2, 5})
    for (const char* transform : {"none", "softmax", "logistic", "softmax_zero"})
      for (const bool based : {false, true}) {
        Ints labels;
        for (int64_t k = 0; k < classes; ++k) labels.push_back(10 * k + 3);
        AttrList attrs = With(Forest(11, DType::kF32, 0, classes, 5),
                              {{"label_ints", labels}, {"transform", std::string(transform)}});
        if (based) attrs = With(attrs, {{"base", Random(classes, 1)}});
        for (const int outputs : {1, 2}) {
          Check("TreeEnsembleClassifier", Rows(DType::kF32, {130, 5}, 1), attrs, outputs);
          Check("TreeEnsembleClassifier", Rows(DType::kI64, {1, 5}, 2), attrs, outputs);
        }
      }
}

TEST(MlKernels, LinearClassifiers) {
  for (const int64_t classes : {1, 2, 5})
    for (const int64_t rows : {int64_t{1}, classes})
      for (const char* transform : {"none", "softmax", "logistic", "softmax_zero"}) {
        if (rows == 1 && classes > 2) continue;
        Ints labels;
        for (int64_t k = 0; k < classes; ++k) labels.push_back(7 - k);
        const AttrList attrs{{"label_ints", labels},
                             {"coefficients", Random(rows * 6, 3)},
                             {"intercepts", Random(rows, 4)},
                             {"transform", std::string(transform)}};
        for (const DType x : {DType::kF32, DType::kF64, DType::kI64})
          for (const Dims& dims : {Dims{700, 6}, Dims{6}, Dims{0, 6}})
            for (const int outputs : {1, 2})
              Check("LinearClassifier", Tensor::Of(x, dims, Random(CountOf(dims), 9, true)), attrs, outputs,
                    2e-5);
      }
}

TEST(MlKernels, Normalizers) {
  for (const char* norm : {"max", "l1", "l2"})
    for (const DType type : {DType::kF32, DType::kF64, DType::kI32, DType::kI64})
      for (const Dims& dims : {Dims{90, 7}, Dims{5}, Dims{3, 0}, Dims{0, 3}, Dims{4, 1}})
        Check("Normalizer", Rows(type, dims, 2), {{"norm", std::string(norm)}}, 1, 1e-7);
  Check("Normalizer", Tensor(DType::kF32, {3, 4}), {{"norm", std::string("l2")}}, 1);
}

}  // namespace
}  // namespace tern
