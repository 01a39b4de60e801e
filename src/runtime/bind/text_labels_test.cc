// Tests classifiers with string labels. Kernels compute the indices of the classes. Only the lookup of the
// strings runs on the host.
#include "ir/builder.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

using Texts = std::vector<std::string>;

TEST(TextLabels, ClassifiersHaveKernels) {
  InitOps();
  const Tensor x = Tensor::Of(DType::kF32, {3, 2}, {0, 0, 1, 1, -1, 2});
  const AttrList labels{{"label_texts", Texts{"b", "a"}}};
  const std::vector<std::pair<const char*, AttrList>> classifiers{
      {"LinearClassifier",
       {{"coefficients", std::vector<double>{1, 2, -3, 0.5}}, {"intercepts", std::vector<double>{0, 1}}}},
      {"SVMClassifier",
       {{"kernel", std::string("rbf")},
        {"gamma", 0.5},
        {"per_class", std::vector<int64_t>{1, 1}},
        {"vectors", std::vector<double>{0, 0, 1, 1}},
        {"coefficients", std::vector<double>{1, -1}},
        {"rho", std::vector<double>{0.1}}}},
  };
  for (auto [op, attrs] : classifiers) {
    attrs.insert(attrs.end(), labels.begin(), labels.end());
    auto graph = std::make_shared<Graph>();
    Builder b(*graph);
    Value* in = graph->AddInput("x", Type::TensorOf(x.dtype(), Shape::Of(x.dims())));
    graph->SetOutputs(b.Ops(op, {in}, attrs, 2));
    ASSERT_TRUE(b.status().ok()) << b.status().ToString();
    auto want = EvaluateGraph(*graph, {x});
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    SessionOptions options;
    options.level = Level::kLayout;
    auto session = SessionOf(graph, options);
    ASSERT_TRUE(session->BindInput(0, x).ok());
    ASSERT_TRUE(session->Prepare().ok());
    std::string kernels;
    for (const StepInfo& step : session->Steps())
      kernels += StrCat(step.node->op->name, ":", step.kernel, " ");
    EXPECT_EQ(kernels.find("reference"), std::string::npos) << kernels;
    EXPECT_NE(kernels.find("Gather:host"), std::string::npos) << kernels;
    ASSERT_TRUE(session->Run().ok());
    EXPECT_TRUE(session->Fallbacks().empty());
    EXPECT_EQ(ToStrings(session->Output(0).tensor), ToStrings((*want)[0].tensor));
  }
}

}  // namespace
}  // namespace tern
