// Tests that inputs of a Concat along the last axis are written directly into its result.
#include <map>
#include <regex>
#include <set>

#include "runtime/bind/cpu_kernels.h"
#include "runtime/cost/cost_model.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

struct StrideResult {
  std::map<std::string, int> kernels;  // number of steps, by kernel
};

// Runs a graph in which channels-last convolutions of %x write %a (24 channels) and %b (40 channels), and
// pooling writes %c. The nodes of `tail` follow. Expects the outputs of the reference, with one thread and
// with three. Inputs whose names start with w become constants.
StrideResult RunNet(const std::string& tail, const std::string& outputs = "%y",
                    const std::string& dims = "2,9,10,16", SessionOptions options = {}) {
  InitOps();
  auto parsed = ParseGraph(
      StrCat("graph @g(%x: f32[", dims, "], %w1: f32[24,16,1,1], %w3: f32[40,16,3,3], %wd: f32[16,1,3,3], ",
             "%wt: f32[16,8,2,2]) -> (", outputs, ") {\n",
             "  %a = Conv(%x, %w1) {channels_last=true,activation=\"relu\"}\n",
             "  %b = Conv(%x, %w3) {channels_last=true,pads=[1,1,1,1]}\n",
             "  %c = Pool(%x) {channels_last=true,kind=\"max\",kernel=[3,3],pads=[1,1,1,1]}\n", tail, "\n}"));
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  uint32_t seed = 5;
  const std::vector<Value*> inputs = (*parsed)->inputs();
  for (Value* v : inputs)
    if (v->name[0] == 'w') (*parsed)->InputToConstant(v, Noise(v->type.shape.Concrete(), seed++));
  const std::shared_ptr<const Graph> graph = std::move(*parsed);
  const DatumList x{Noise(graph->inputs()[0]->type.shape.Concrete(), 3)};
  const auto want = EvaluateGraph(*graph, x);
  EXPECT_TRUE(want.ok()) << want.status().ToString();
  StrideResult result;
  for (int threads : {1, 3}) {
    options.threads = threads;
    auto session = SessionOf(graph, options);
    for (int round = 0; round < 2; ++round) {
      const auto got = session->Run(x);
      EXPECT_TRUE(got.ok()) << got.status().ToString();
      if (!got.ok() || !want.ok()) return {};
      for (size_t k = 0; k < want->size(); ++k) {
        const auto p = ToDoubles((*got)[k].tensor), q = ToDoubles((*want)[k].tensor);
        EXPECT_EQ((*got)[k].tensor.dims(), (*want)[k].tensor.dims());
        const double allowed = options.precision == Precision::kBf16 ? 0.3 : 2e-3;
        for (size_t i = 0; i < std::min(p.size(), q.size()); ++i)
          if (!(std::abs(p[i] - q[i]) <= allowed)) {
            ADD_FAILURE() << "output " << k << ", element " << i << ": " << p[i] << " against " << q[i];
            break;
          }
      }
    }
    result = {};
    for (const StepInfo& step : session->Steps()) ++result.kernels[step.kernel];
  }
  return result;
}

// Copies all inputs, unlike the kernel "copy", which copies only some of them.
constexpr const char* kConcat = "cpu.concat";

TEST(RowStride, TheConcatNeedsNoStep) {
  for (const char* tail :
       {"  %y = Concat(%a, %b, %c) {axis=3}", "  %y = Concat(%c, %b) {axis=-1}", "  %y = Concat(%a) {axis=3}",
        "  %d = Conv(%x, %wd) {channels_last=true,group=16,pads=[1,1,1,1]}\n"
        "  %y = Concat(%d, %a, %c) {axis=3}",
        "  %p = Concat(%a, %b) {axis=3}\n  %y = Relu(%p)",
        "  %t = ConvTranspose(%x, %wt) {channels_last=true,strides=[2,2]}\n"
        "  %u = ConvTranspose(%x, %wt) {channels_last=true,strides=[2,2],activation=\"relu\"}\n"
        "  %y = Concat(%t, %u) {axis=3}"}) {
    SCOPED_TRACE(tail);
    const StrideResult result = RunNet(tail);
    EXPECT_EQ(result.kernels.count(kConcat) + result.kernels.count("copy"), 0u);
  }
}

// Returns random numbers of a type. Those of integers are in [28, 228], or in [-100, 100] if i8.
Tensor NoiseOf(DType type, const Dims& dims, uint32_t seed) {
  const Tensor noise = Noise(dims, seed);
  if (type == DType::kF32) return noise;
  std::vector<double> values = ToDoubles(noise);
  for (double& v : values) v = std::round(100 * v) + (type == DType::kI8 ? 0 : 128);
  return Tensor::Of(type, dims, values);
}

// Runs each kernel that has KernelAbilities::row_stride on the layers for which it is legal, and checks its
// result.
TEST(RowStride, EveryKernelThatCan) {
  struct Layer {
    const char *op, *attrs;
    Dims x, w;  // w is empty if the op has no weights
    DType type = DType::kF32;
  };
  const Layer layers[] = {{"Conv", "pads=[1,1,1,1]", {1, 10, 11, 8}, {48, 8, 3, 3}},
                          {"Conv", "pads=[2,2,2,2]", {1, 10, 11, 8}, {48, 8, 5, 5}},
                          {"Conv", "pads=[7,7,7,7]", {1, 20, 18, 2}, {6, 2, 15, 15}},
                          {"Conv", "pads=[15,15,15,15],group=4", {1, 20, 18, 4}, {4, 1, 31, 31}},
                          {"Conv", "pads=[1,1,1,1],group=20", {1, 20, 22, 20}, {20, 1, 3, 3}},
                          {"Conv", "pads=[1,1,1,1],group=5", {1, 20, 22, 20}, {20, 4, 3, 3}},
                          {"Conv", "pads=[9,9,9,9],dilations=[9,9]", {1, 20, 22, 20}, {20, 20, 3, 3}},
                          {"Conv", "strides=[1,1]", {1, 20, 22, 16}, {24, 16, 1, 1}},
                          {"ConvTranspose", "strides=[2,2]", {1, 20, 22, 16}, {16, 24, 2, 2}},
                          {"Pool", "kind=\"max\",kernel=[2,2],strides=[2,2]", {1, 20, 22, 16}, {}},
                          {"Pool", "kind=\"average\",kernel=[3,3],pads=[1,1,1,1]", {1, 20, 22, 16}, {}},
                          {"Pool", "kind=\"max\",kernel=[2,2]", {1, 20, 22, 16}, {}, DType::kU8},
                          {"QConv", "pads=[1,1,1,1]", {1, 10, 11, 8}, {48, 8, 3, 3}, DType::kU8},
                          {"QConv", "strides=[1,1]", {1, 10, 11, 8}, {5, 8, 1, 1}, DType::kU8},
                          {"QConv", "group=20", {1, 10, 11, 20}, {20, 1, 3, 3}, DType::kU8}};
  std::set<std::string> tried, able;
  // FFT kernels that differ only in their tile size count as one kernel. Testing one of them is enough.
  const auto family = [](const std::string& name) {
    return std::regex_replace(name, std::regex("\\.fft\\.\\d+"), ".fft");
  };
  for (const Layer& l : layers) {
    const bool quantized = l.op[0] == 'Q';
    const DType weights = quantized ? DType::kI8 : l.type;
    const std::string inputs = quantized ? "(%x, #s, _, %w, #s, _, #t)" : l.w.empty() ? "(%x)" : "(%x, %w)";
    const std::string node = StrCat(l.op, inputs, " {channels_last=true,", l.attrs, "}");
    auto parsed = ParseGraph(StrCat("graph @g(%x: ", Describe(l.type, l.x),
                                    l.w.empty() ? "" : ", %w: " + Describe(weights, l.w),
                                    ") -> (%y) {\n  #s: f32[] = (0.1)  #t: f32[] = (40)\n  %a = ", node,
                                    "\n  %b = ", node, "\n  %y = Concat(%a, %b) {axis=3}\n}"));
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    if (!l.w.empty()) (*parsed)->InputToConstant((*parsed)->inputs()[1], NoiseOf(weights, l.w, 4));
    const std::shared_ptr<const Graph> graph = std::move(*parsed);
    const DatumList x{NoiseOf(l.type, l.x, 3)};
    const auto want = EvaluateGraph(*graph, x);
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    for (const KernelEntry* entry : CpuKernels().Of(l.op)) {
      if (!entry->can.row_stride) continue;
      able.insert(family(entry->name));
      KernelTable only(CpuRates());
      only.Add(*entry);
      for (const char* other : {"Concat", "Fill"})
        for (const KernelEntry* e : CpuKernels().Of(other)) only.Add(*e);
      SessionOptions options;
      options.target = KeepTarget(only);
      for (Precision precision : {Precision::kF32, Precision::kBf16}) {
        options.precision = precision;
        auto session = SessionOf(graph, options);
        const auto got = session->Run(x);
        ASSERT_TRUE(got.ok()) << entry->name << ": " << got.status().ToString();
        const std::vector<StepInfo> steps = session->Steps();
        if (steps.size() != 2 || steps[0].kernel != entry->name)
          continue;  // the kernel is not legal, so the reference ran
        tried.insert(family(entry->name));
        const auto p = ToDoubles((*got)[0].tensor), q = ToDoubles((*want)[0].tensor);
        double largest = 0;
        for (double v : q) largest = std::max(largest, std::abs(v));
        for (size_t i = 0; i < q.size(); ++i)
          ASSERT_NEAR(p[i], q[i], (precision == Precision::kBf16 ? 0.02 : 1e-4) * largest)
              << entry->name << ", " << node << ": element " << i;
      }
    }
  }
  EXPECT_EQ(tried, able);
}

TEST(RowStride, OthersAreCopied) {
  for (const char* tail :
       {"  %y = Concat(%a, %x, %b) {axis=3}",
        "  %d = Unary(%c) {kind=\"sin\"}\n  %y = Concat(%d, %a) {axis=3}",
        "  %d = %c + %x\n  %y = Concat(%b, %d) {axis=3}",
        "  %d = Conv(%x, %wd, _, %x) {channels_last=true,group=16,pads=[1,1,1,1]}\n"
        "  %y = Concat(%d, %a) {axis=3}",
        "  %d = Conv(%x, %wd) {channels_last=true,group=16,pads=[1,1,1,1],activation=\"gelu\"}\n"
        "  %y = Concat(%a, %d) {axis=3}",
        "  %y = Concat(%a, %a, %b) {axis=3}"}) {
    SCOPED_TRACE(tail);
    const StrideResult result = RunNet(tail);
    EXPECT_EQ(result.kernels.count("copy"), 1u);
    EXPECT_EQ(result.kernels.count(kConcat), 0u);
  }
  const StrideResult result = RunNet("  %y = Concat(%x, %x) {axis=3}");
  EXPECT_EQ(result.kernels.count(kConcat), 1u) << "no kernel can write with a row stride";
}

TEST(RowStride, NotForValuesWithOtherReaders) {
  EXPECT_EQ(RunNet("  %y = Concat(%a, %b) {axis=3}", "%y, %a").kernels.count("copy"), 1u);
  EXPECT_EQ(RunNet("  %y = Concat(%a, %b) {axis=3}\n  %z = Relu(%b)", "%y, %z").kernels.count("copy"), 1u);
  EXPECT_EQ(RunNet("  %y = Concat(%a, %b) {axis=3}", "%y, %a, %b").kernels.count(kConcat), 1u);
  const StrideResult twice = RunNet("  %p = Concat(%a, %b) {axis=3}\n  %y = Concat(%p, %a) {axis=3}");
  EXPECT_EQ(twice.kernels.count("copy"), 1u) << "%a is copied into %p; %b is written directly";
  EXPECT_EQ(twice.kernels.count(kConcat), 1u);
  EXPECT_EQ(RunNet("  %y = Concat(%a, %a) {axis=2}").kernels.count(kConcat), 1u) << "another axis";
}

TEST(RowStride, NestedConcatsAndBatches) {
  // The result of the inner Concat is copied into the result of the outer Concat. The inputs of the inner
  // Concat are written directly into its result.
  EXPECT_EQ(RunNet("  %p = Concat(%a, %b) {axis=3}\n  %y = Concat(%p, %c) {axis=3}").kernels.count("copy"),
            1u);
  // The inputs of a Concat along the outermost axis are contiguous in its result.
  const StrideResult result = RunNet(
      "  %p = Concat(%a, %b) {axis=3}\n  %q = Concat(%c, %x) {axis=3}\n"
      "  %r = Concat(%q, %q) {axis=3}\n  %y = Concat(%p, %r) {axis=0}");
  EXPECT_EQ(result.kernels.count(kConcat), 1u) << "only for %r";
  SessionOptions options;
  options.value_cache = 40000;
  RunNet("  %p = Concat(%a, %b, %c) {axis=3}\n  %y = Relu(%p)", "%y", "7,9,10,16", options);
}

// With direct writes, the result of a Concat is alive from the step that writes its first input. In this
// graph, many steps with large values run between this step and the Concat. So direct writes would increase
// the peak of memory.
TEST(RowStride, NotWhereItTakesMoreMemory) {
  std::string tail = "  %b1 = Conv(%x, %w3) {channels_last=true,pads=[1,1,1,1]}\n";
  std::string last = "%b1";
  for (int i = 0; i < 6; ++i) {
    tail += StrCat("  %s", i, " = Concat(", last, ", ", last, ", ", last, ", ", last, ") {axis=2}\n", "  %t",
                   i, " = Pool(%s", i, ") {channels_last=true,kind=\"max\",kernel=[1,4],strides=[1,4]}\n");
    last = StrCat("%t", i);
  }
  tail += StrCat("  %y = Concat(%a, ", last, ") {axis=3}");
  const StrideResult result = RunNet(tail, "%y", "1,30,30,16");
  EXPECT_EQ(result.kernels.count(kConcat), 1u);
}

TEST(RowStride, EmptyAndSingleRows) {
  RunNet("  %y = Concat(%a, %b) {axis=3}", "%y", "0,9,10,16");
  RunNet("  %y = Concat(%a, %b) {axis=3}", "%y", "1,1,1,16");
  RunNet("  %y = Concat(%c, %b) {axis=3}", "%y", "1,1,9,16");
}

TEST(RowStride, InBf16) {
  SessionOptions options;
  options.precision = Precision::kBf16;
  const StrideResult result = RunNet("  %y = Concat(%a, %b, %c) {axis=3}", "%y", "2,9,10,16", options);
  EXPECT_EQ(result.kernels.count(kConcat) + result.kernels.count("copy"), 0u);
}

}  // namespace
}  // namespace tern
