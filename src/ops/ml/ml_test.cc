#include <cmath>

#include "ops/test_graph.h"

namespace tern {
namespace {

Tensor F32(const Dims& dims, const std::vector<double>& v) { return Tensor::Of(DType::kF32, dims, v); }
using Ints = std::vector<int64_t>;
using Texts = std::vector<std::string>;

// x <= 1 ? leaf 0 : (y == 5 ? leaf 1 : leaf 2); leaf 2 votes twice.
AttrList Tree() {
  return {{"roots", Ints{0}},
          {"feature", Ints{0, 1}},
          {"mode", Ints{0, 4}},
          {"value", F32({2}, {1, 5})},
          {"true_child", Ints{-1, -2}},
          {"false_child", Ints{1, -3}},
          {"leaf_start", Ints{0, 1, 2, 4}},
          {"vote_target", Ints{0, 1, 0, 1}},
          {"vote_weight", F32({4}, {10, 20, 30, 40})},
          {"targets", int64_t{2}}};
}

AttrList With(AttrList attrs, const char* name, AttrValue value) {
  for (auto& [key, old] : attrs)
    if (key == name) {
      old = std::move(value);
      return attrs;
    }
  attrs.emplace_back(name, std::move(value));
  return attrs;
}

TEST(TreeEnsemble, WalksToLeaves) {
  const Tensor x = F32({3, 2}, {0, 0, 2, 5, 2, 6});
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {x}, Tree())), (std::vector<double>{10, 0, 0, 20, 30, 40}));
  const auto based = With(Tree(), "base", std::vector<double>{1, 2});
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {x}, based)), (std::vector<double>{11, 2, 1, 22, 31, 42}));
}

TEST(TreeEnsemble, MissingValuesAndSets) {
  const Tensor x = F32({1, 2}, {std::nan(""), 5});
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {x}, Tree())), (std::vector<double>{0, 20}));
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {x}, With(Tree(), "missing_true", Ints{1, 0}))),
            (std::vector<double>{10, 0}));
  AttrList sets = With(Tree(), "mode", Ints{0, 6});
  sets = With(With(sets, "member_start", Ints{0, 2}), "member", F32({2}, {6, 7}));
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {F32({1, 2}, {2, 7})}, sets)), (std::vector<double>{0, 20}));
  EXPECT_EQ(ToDoubles(OutputOf("TreeEnsemble", {F32({1, 2}, {2, 5})}, sets)), (std::vector<double>{30, 40}));
}

TEST(TreeEnsemble, BrokenTablesAreRefused) {
  const Tensor x = F32({1, 2}, {0, 0});
  const auto refused = [&](const char* name, AttrValue value) {
    return !EvaluateOp("TreeEnsemble", {x}, With(Tree(), name, std::move(value))).ok();
  };
  EXPECT_TRUE(refused("false_child", Ints{0, -3})) << "a node that is its own child";
  EXPECT_TRUE(refused("false_child", Ints{1, 0})) << "a cycle";
  EXPECT_TRUE(refused("true_child", Ints{7, -2})) << "a node that does not exist";
  EXPECT_TRUE(refused("true_child", Ints{-9, -2})) << "a leaf that does not exist";
  EXPECT_TRUE(refused("roots", Ints{2}));
  EXPECT_TRUE(refused("roots", Ints{INT64_MIN}));
  EXPECT_TRUE(refused("feature", Ints{0, 9})) << "a column that x does not have";
  EXPECT_TRUE(refused("feature", Ints{0, -1}));
  EXPECT_TRUE(refused("mode", Ints{0, 7}));
  EXPECT_TRUE(refused("mode", Ints{0, 6})) << "a set that is not there";
  EXPECT_TRUE(refused("vote_target", Ints{0, 1, 0, 2}));
  EXPECT_TRUE(refused("leaf_start", Ints{0, 3, 2, 4}));
  EXPECT_TRUE(refused("vote_weight", F32({3}, {1, 2, 3})));
  EXPECT_TRUE(refused("value", F32({1}, {1})));
  EXPECT_TRUE(refused("targets", int64_t{1} << 60));
  EXPECT_TRUE(refused("base", std::vector<double>{1}))
      << "onnxruntime refuses one base value for two targets";
  EXPECT_TRUE(refused("base", std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(refused("base_wide", Tensor::Of(DType::kF64, {1}, {1})));
  EXPECT_FALSE(EvaluateOp("TreeEnsemble", {F32({1, 2, 2}, {0, 0, 0, 0})}, Tree()).ok());
}

TEST(TreeEnsembleClassifier, ManyClassesTakeTheBest) {
  AttrList attrs = Tree();
  attrs.pop_back();
  attrs = With(attrs, "label_texts", std::vector<std::string>{"a", "b", "c"});
  EXPECT_EQ(ToStrings(OutputOf("TreeEnsembleClassifier", {F32({3, 2}, {0, 0, 2, 5, 2, 6})}, attrs)),
            (std::vector<std::string>{"a", "b", "b"}));
}

TEST(LabelEncoder, LooksUp) {
  const AttrList attrs = {{"keys", F32({3}, {1.5, std::nan(""), 0})},
                          {"values", Tensor::Ints({7, 8, 9})},
                          {"otherwise", Tensor::Ints({-1})}};
  EXPECT_EQ(ToLongs(OutputOf("LabelEncoder", {F32({4}, {std::nan(""), -0.0, 1.5, 2})}, attrs)),
            (Ints{8, 9, 7, -1}));
  EXPECT_FALSE(EvaluateOp("LabelEncoder", {F32({1}, {2})}, With(attrs, "strict", true)).ok());
  EXPECT_FALSE(EvaluateOp("LabelEncoder", {F32({1}, {2})}, With(attrs, "values", Tensor::Ints({7}))).ok());
  EXPECT_FALSE(EvaluateOp("LabelEncoder", {Tensor::Ints({2})}, attrs).ok()) << "keys of another type";
}

TEST(SVMClassifier, SizesMustAgree) {
  const AttrList attrs = {{"label_ints", Ints{3, 4}},
                          {"per_class", Ints{1, 1}},
                          {"vectors", std::vector<double>{1, 0, 0, 1}},
                          {"coefficients", std::vector<double>{1, -1}},
                          {"rho", std::vector<double>{0}}};
  EXPECT_EQ(ToLongs(OutputOf("SVMClassifier", {F32({2, 2}, {2, 0, 0, 2})}, attrs)), (Ints{3, 4}));
  const Tensor x = F32({1, 2}, {0, 0});
  EXPECT_FALSE(EvaluateOp("SVMClassifier", {x}, With(attrs, "per_class", Ints{1, 5})).ok());
  EXPECT_FALSE(EvaluateOp("SVMClassifier", {x}, With(attrs, "per_class", Ints{1, INT64_MAX})).ok());
  EXPECT_FALSE(EvaluateOp("SVMClassifier", {x}, With(attrs, "coefficients", std::vector<double>{1})).ok());
  EXPECT_FALSE(EvaluateOp("SVMClassifier", {x}, With(attrs, "rho", std::vector<double>{})).ok());
  EXPECT_FALSE(EvaluateOp("SVMClassifier", {x}, With(attrs, "prob_a", std::vector<double>{1})).ok());
}

TEST(LinearClassifier, PicksTheLargestScore) {
  const AttrList attrs = {{"label_ints", Ints{3, 4, 5}},
                          {"coefficients", std::vector<double>{1, 0, 0, 1, -1, -1}},
                          {"intercepts", std::vector<double>{0, 0.5, 0}}};
  const Tensor x = F32({3, 2}, {2, 0, 0, 2, -3, -3});
  EXPECT_EQ(ToLongs(OutputOf("LinearClassifier", {x}, attrs)), (Ints{3, 4, 5}));
  const Status wide = EvaluateOp("LinearClassifier", {F32({1, 3}, {0, 0, 0})}, attrs).status();
  EXPECT_NE(wide.message().find("6 coefficients for 3 linear functions need 2 features, but x has 3"),
            std::string::npos)
      << wide.message();
  EXPECT_FALSE(EvaluateOp("LinearClassifier", {x}, With(attrs, "coefficients", std::vector<double>{1})).ok());
  EXPECT_FALSE(
      EvaluateOp("LinearClassifier", {x}, With(attrs, "intercepts", std::vector<double>{1, 2})).ok());
  EXPECT_FALSE(EvaluateOp("LinearClassifier", {x}, With(attrs, "label_ints", Ints{})).ok());
}

TEST(LinearClassifier, OneRowServesTwoClasses) {
  const AttrList attrs = {{"label_texts", Texts{"no", "yes"}},
                          {"coefficients", std::vector<double>{1, 1}},
                          {"intercepts", std::vector<double>{-1}},
                          {"transform", "logistic"}};
  InitOps();
  Graph graph;
  Builder b(graph);
  graph.SetOutputs(b.Ops("LinearClassifier", {b.Const(F32({2, 2}, {1, 1, 0, 1}))}, attrs, 2));
  const auto result = EvaluateGraph(graph, {});
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(ToStrings((*result)[0].tensor), (Texts{"yes", "no"})) << "zero is not above zero";
  const auto scores = ToDoubles((*result)[1].tensor);
  EXPECT_NEAR(scores[1], 1 / (1 + std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(scores[0] + scores[1], 1, 1e-6);
  EXPECT_FALSE(
      EvaluateOp("LinearClassifier", {F32({1, 2}, {1, 1})}, With(attrs, "transform", "probit")).ok());
}

TEST(Normalizer, DividesRowsByTheirNorm) {
  const Tensor x = F32({3, 2}, {3, -4, 0, 0, -1, -2});
  const auto of = [&](const char* norm) {
    return ToDoubles(OutputOf("Normalizer", {x}, {{"norm", std::string(norm)}}));
  };
  const auto near = [](const std::vector<double>& got, const std::vector<double>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
  };
  near(of("l1"), {3.0 / 7, -4.0 / 7, 0, 0, -1.0 / 3, -2.0 / 3});
  near(of("l2"), {0.6, -0.8, 0, 0, -1 / std::sqrt(5.0), -2 / std::sqrt(5.0)});
  near(of("max"), {1, -4.0 / 3, 0, 0, 1, 2});
  EXPECT_FALSE(EvaluateOp("Normalizer", {F32({1, 1, 2}, {1, 2})}, {}).ok());
}

}  // namespace
}  // namespace tern
