// Converts the linear models and support vector machines of ai.onnx.ml.
#include <algorithm>

#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/ml_attrs.h"

namespace tern::onnx {
namespace {

Value* Unary(OnnxNode& n, const char* kind, Value* x) {
  return n.b.Op("Unary", {x}, {{"kind", std::string(kind)}});
}
Value* F32(OnnxNode& n, double v) { return n.b.Scalar(DType::kF32, v); }

// Emits the probit function of p with Winitzki's approximation of the inverse error function, as Tern's
// classifiers do.
Value* Probit(OnnxNode& n, Value* p) {
  constexpr double kA = 0.147, kPi = 3.14159;
  Value* x = Binary(n, "sub", Binary(n, "mul", p, F32(n, 2)), F32(n, 1));
  Value* product = Binary(n, "mul", Binary(n, "sub", F32(n, 1), x), Binary(n, "add", F32(n, 1), x));
  Value* log = Unary(n, "log", product);
  Value* half = Binary(n, "add", Binary(n, "mul", log, F32(n, 0.5)), F32(n, 2 / (kPi * kA)));
  Value* inner =
      Unary(n, "sqrt", Binary(n, "sub", Binary(n, "mul", half, half), Binary(n, "div", log, F32(n, kA))));
  Value* root = Binary(n, "mul", Unary(n, "sqrt", Binary(n, "sub", inner, half)), F32(n, 1.41421356));
  return n.b.Op("Where", {Binary(n, "less", x, F32(n, 0)), Unary(n, "neg", root), root});
}

// Emits a softmax over the nonzero scores. Scores of zero stay zero.
Value* SoftmaxZero(OnnxNode& n, Value* x) {
  Value* axis = n.b.Ints({-1});
  Value* nonzero = Binary(n, "greater", Unary(n, "abs", x), F32(n, 1e-7));
  Value* top = n.b.Op("Reduce", {x, axis}, {{"kind", std::string("max")}, {"keep_dims", true}});
  Value* powers = Unary(n, "exp", Binary(n, "sub", x, top));
  Value* shares = n.b.Op("Where", {nonzero, powers, F32(n, 0)});
  Value* sum = n.b.Op("Reduce", {shares, axis}, {{"kind", std::string("sum")}, {"keep_dims", true}});
  Value* zero_scores = Binary(n, "mul", x, Unary(n, "exp", Unary(n, "neg", top)));
  return Binary(n, "div", n.b.Op("Where", {nonzero, powers, zero_scores}), sum);
}

// Applies the post_transform `kind` to x, which has `scores` scores per row. If a row has a single score,
// only probit changes it.
Value* Transformed(OnnxNode& n, const std::string& kind, Value* x, size_t scores) {
  if (kind == "probit") return Probit(n, x);
  if (scores < 2 || kind == "none") return x;
  if (kind == "logistic") return Unary(n, "sigmoid", x);
  return kind == "softmax" ? n.b.Op("Softmax", {x}, {{"axis", int64_t{-1}}}) : SoftmaxZero(n, x);
}

// Returns the coefficients of `rows` linear functions. If input 0 has fewer features than there are
// coefficients for, the first ones are used, as in onnxruntime: its own example logreg_iris.onnx has twice as
// many as it needs.
std::vector<float> Coefficients(const OnnxNode& n, size_t rows) {
  std::vector<float> all = n.Floats("coefficients");
  const Shape& x = n.In(0)->type.shape;
  if (rows == 0 || all.size() % rows || !x.ranked || x.rank() == 0 || !x[-1].known() || x[-1].value() < 1)
    return all;
  const auto features = static_cast<size_t>(x[-1].value());
  if (all.size() / rows <= features) return all;
  n.Warn("only the first ", rows * features, " of ", all.size(), " coefficients are used, because there are ",
         rows, " linear functions and the input has ", features, " features");
  all.resize(rows * features);
  return all;
}

// Emits the scores [rows, targets]. They are the product of x [rows, features] and the transposed
// coefficients [targets, features], plus the intercepts. x may also be a single row [features].
Result<Value*> Scores(OnnxNode& n, size_t targets, const std::vector<float>& intercepts) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const auto coefficients = Coefficients(n, targets);
  if (targets == 0 || coefficients.size() % targets)
    return n.Bad(coefficients.size(), " coefficients cannot be divided evenly among ", targets, " targets");
  if (!intercepts.empty() && intercepts.size() != targets)
    return n.Bad("there are ", intercepts.size(), " intercepts for ", targets, " targets");
  if (n.RankOf(0) < 0) return n.NotYet("an input of unknown rank");
  if (n.RankOf(0) < 1 || n.RankOf(0) > 2)
    return n.Bad("input must be [rows, features] or [features], got ", n.In(0)->type.ToString());
  const auto features = static_cast<int64_t>(coefficients.size() / targets);
  Value* x = ToF32(n, n.In(0));
  if (n.RankOf(0) == 1) x = n.b.Op("Unsqueeze", {x, n.b.Ints({0})});
  Value* w = n.b.Const(Tensor::Of(DType::kF32, {static_cast<int64_t>(targets), features},
                                  {coefficients.begin(), coefficients.end()}));
  Value* bias = nullptr;
  if (!intercepts.empty())
    bias = n.b.Const(
        Tensor::Of(DType::kF32, {static_cast<int64_t>(targets)}, {intercepts.begin(), intercepts.end()}));
  return n.b.Op("MatMul", {x, w, bias}, {{"transpose_b", true}});
}

Status LinearRegressor(OnnxNode& n) {
  TERN_ASSIGN(std::string transform, TransformName(n));
  const int64_t targets = n.Int("targets", 1);
  if (targets < 1) return n.Bad("targets must be at least 1, got ", targets);
  TERN_ASSIGN(Value * y, Scores(n, static_cast<size_t>(targets), n.Floats("intercepts")));
  n.Out(0, Transformed(n, transform, y, static_cast<size_t>(targets)));
  return {};
}

std::vector<double> Doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

Status LinearClassifier(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  TERN_ASSIGN(std::string transform, TransformName(n));
  const std::vector<int64_t> ints = n.Ints("classlabels_ints");
  const std::vector<std::string> texts = n.Texts("classlabels_strings");
  const std::vector<float> intercepts = n.Floats("intercepts");
  const size_t rows = intercepts.empty() ? ints.size() + texts.size() : intercepts.size();
  n.Out(n.b.Ops("LinearClassifier", {n.In(0)},
                {{"label_ints", ints},
                 {"label_texts", texts},
                 {"coefficients", Doubles(Coefficients(n, rows))},
                 {"intercepts", Doubles(intercepts)},
                 {"transform", transform}},
                2));
  return {};
}

Result<AttrList> SvmAttrs(const OnnxNode& n) {
  const std::string kernel = LowerCase(n.Text("kernel_type", "LINEAR"));
  const auto params = n.Floats("kernel_params", {0, 0, 0});
  if (params.size() < 3 && kernel != "linear")
    return n.Bad("kernel_params has ", params.size(), " entries, but needs 3");
  const auto param = [&](size_t i) { return i < params.size() ? static_cast<double>(params[i]) : 0.0; };
  return AttrList{{"kernel", kernel},
                  {"gamma", param(0)},
                  {"coef0", param(1)},
                  {"degree", param(2)},
                  {"vectors", Doubles(n.Floats("support_vectors"))},
                  {"coefficients", Doubles(n.Floats("coefficients"))},
                  {"rho", Doubles(n.Floats("rho"))}};
}

Status SvmRegressor(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  TERN_ASSIGN(AttrList attrs, SvmAttrs(n));
  attrs.insert(attrs.end(), {{"supports", n.Int("n_supports")}, {"one_class", n.Int("one_class") != 0}});
  n.Out(0, n.b.Op("SVMRegressor", {n.In(0)}, attrs));
  return {};
}

Status SvmClassifier(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  TERN_ASSIGN(AttrList attrs, SvmAttrs(n));
  TERN_ASSIGN(std::string transform, TransformName(n));
  attrs.insert(attrs.end(), {{"label_ints", n.Ints("classlabels_ints")},
                             {"label_texts", n.Texts("classlabels_strings")},
                             {"per_class", n.Ints("vectors_per_class")},
                             {"prob_a", Doubles(n.Floats("prob_a"))},
                             {"prob_b", Doubles(n.Floats("prob_b"))},
                             {"transform", transform}});
  n.Out(n.b.Ops("SVMClassifier", {n.In(0)}, attrs, 2));
  return {};
}

}  // namespace

TERN_CONVERTERS(ml_linear) {
  table.Add("LinearRegressor", LinearRegressor, kMl);
  table.Add("LinearClassifier", LinearClassifier, kMl);
  table.Add("SVMRegressor", SvmRegressor, kMl);
  table.Add("SVMClassifier", SvmClassifier, kMl);
}

}  // namespace tern::onnx
