// Tests which kernels quantized products use.
#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// Runs the graph on zeros and returns the choice of kernels of its last node.
Choice ChoiceOf(const std::string& text) {
  const auto graph = ParseOrDie(text);
  if (!graph) return {};
  SessionOptions options;
  options.explain = true;
  const auto session = SessionOf(graph, options);
  DatumList inputs;
  for (const Value* v : graph->inputs()) inputs.emplace_back(Tensor(v->type.dtype, v->type.shape.Concrete()));
  EXPECT_TRUE(session->Run(inputs).ok());
  return session->Choices().back();
}

std::string WhyNot(const Choice& choice, const std::string& kernel) {
  for (const Candidate& c : choice.candidates)
    if (c.kernel == kernel) return c.legal ? "legal" : c.why_not;
  return "no such kernel";
}

// Returns a QConv over channels-last images of type `x`. `w` is the text that defines the weights %w.
std::string Conv(const std::string& x, const std::string& w, const std::string& attrs,
                 const char* zero = "_") {
  return StrCat("graph @g(%x: ", x, ") -> (%y) {\n  #s: f32[] = (0.1)  #o: u8[] = (100)\n  ", w,
                "\n  %y = QConv(%x, #s, _, %w, #s, ", zero, ", #s) {channels_last=true", attrs, "}\n}");
}
// Returns the text that defines weights with these dims.
std::string Weights(const std::string& dims) {
  return StrCat("#d: i64[4] = (", dims, ")\n  %w = Fill(#d) {value=i8[] (3)}");
}

class QuantizedKernels : public cpu::EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, QuantizedKernels, testing::ValuesIn(cpu::LevelsAndVnniHere()));

TEST_P(QuantizedKernels, IntegerKernelsHaveTheLeastEstimates) {
  const auto chosen = [](const std::string& x, const std::string& dims, const char* attrs) {
    return ChoiceOf(Conv(x, Weights(dims), attrs)).kernel;
  };
  EXPECT_EQ(chosen("u8[1,14,14,64]", "64, 64, 3, 3", ", pads=[1,1,1,1]"), "cpu.qconv.nhwc.i8");
  EXPECT_EQ(chosen("u8[1,56,56,64]", "64, 64, 1, 1", ""), "cpu.qconv.nhwc.i8");
  EXPECT_EQ(chosen("u8[1,14,14,64]", "64, 1, 3, 3", ", group=64"), "cpu.qconv.nhwc.depthwise.i8");
  EXPECT_EQ(ChoiceOf("graph @g(%x: u8[20,64]) -> (%y) {\n  #s: f32[] = (0.1)  #d: i64[2] = (64, 32)\n"
                     "  %w = Fill(#d) {value=i8[] (3)}\n  %y = QMatMul(%x, #s, _, %w, #s)\n}")
                .kernel,
            "cpu.qmatmul.packed.i8");
}

TEST(QuantizedKernelReasons, SayWhyTheyAreNotLegal) {
  const char* kernel = "cpu.qconv.nhwc.i8";
  // 0 - 100 and 255 - 100 differ by more than 8 bits allow.
  const std::string wide = Conv("u8[1,4,4,1]", "#v: u8[1,1,1,2] = (0, 255)\n  %w = Identity(#v)", "", "#o");
  EXPECT_EQ(WhyNot(ChoiceOf(wide), kernel), "the weights minus their zero points do not fit into 8 bits");
  EXPECT_EQ(WhyNot(ChoiceOf(Conv("u8[1,4,4,1]", "#v: u8[1,1,1,2] = (0, 227)\n  %w = Identity(#v)", "", "#o")),
                   kernel),
            "legal");
  EXPECT_EQ(
      WhyNot(ChoiceOf(Conv("i16[1,4,4,1]", "#v: i8[1,1,1,2] = (0, 100)\n  %w = Identity(#v)", "")), kernel),
      "needs 8-bit operands");
  EXPECT_EQ(WhyNot(ChoiceOf("graph @g(%x: u8[2,3], %w: i8[3,4]) -> (%y) {\n  #s: f32[] = (0.1)\n"
                            "  %y = QMatMul(%x, #s, _, %w, #s)\n}"),
                   "cpu.qmatmul.packed.i8"),
            "needs constant weights");
}

}  // namespace
}  // namespace tern
