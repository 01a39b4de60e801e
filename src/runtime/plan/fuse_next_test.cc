// Tests where pooling is fused into its convolution, and that fusion does not change the results.
#include "runtime/plan/fuse_next.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/bind/cpu_kernels.h"
#include "runtime/cost/cost_model.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr int64_t kFusedChannels = 64;

// A graph that starts with a channels-last convolution of %x, for which a Winograd kernel is chosen. The
// nodes of `tail` follow and write %y.
struct Net {
  std::string dims = "1,40,40,64";
  std::string conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],activation=\"relu\"}";
  std::string tail = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}";
  std::string outputs = "%y";

  std::shared_ptr<const Graph> Make() const {
    InitOps();
    auto graph = ParseGraph(StrCat("graph @g(%x: f32[", dims, "], %w: f32[64,64,3,3]) -> (", outputs,
                                   ") {\n  ", conv, "\n  ", tail, "\n}"));
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    (*graph)->InputToConstant((*graph)->inputs()[1], Noise({kFusedChannels, kFusedChannels, 3, 3}, 7));
    return std::move(*graph);
  }
};

// Returns the number of nodes that are fused into another step. Expects that the outputs are within
// Winograd's tolerance of the reference, and that they are equal for any number of threads.
int FusedSteps(const Net& net, SessionOptions options = {}) {
  const auto graph = net.Make();
  const DatumList inputs{Noise(graph->inputs()[0]->type.shape.Concrete(), 3)};
  const auto want = EvaluateGraph(*graph, inputs);
  EXPECT_TRUE(want.ok()) << want.status().ToString();
  DatumList first;
  int count = 0;
  for (int threads : {1, 3}) {
    options.threads = threads;
    auto session = SessionOf(graph, options);
    auto got = session->Run(inputs);
    EXPECT_TRUE(got.ok()) << got.status().ToString();
    if (!got.ok() || !want.ok()) return -1;
    for (size_t k = 0; k < want->size(); ++k) {
      const auto a = ToDoubles((*got)[k].tensor), b = ToDoubles((*want)[k].tensor);
      EXPECT_EQ((*got)[k].tensor.dims(), (*want)[k].tensor.dims());
      double largest = 0;
      for (double v : b) largest = std::max(largest, std::abs(v));
      const double allowed = (options.precision == Precision::kBf16 ? 0.02 : 1e-4) * largest;
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (!(std::abs(a[i] - b[i]) <= allowed)) {
          ADD_FAILURE() << "output " << k << ", element " << i << ": " << a[i] << " against " << b[i];
          break;
        }
      if (threads > 1) {
        EXPECT_TRUE(SameTensor((*got)[k].tensor, first[k].tensor));
      }
    }
    if (threads == 1)
      for (const Datum& d : *got) first.emplace_back(d.tensor.Clone());
    count = 0;
    for (const StepInfo& step : session->Steps()) count += step.next != nullptr;
  }
  return count;
}

TEST(FuseNext, PoolingOfTwoByTwo) {
  Net net;
  EXPECT_EQ(FusedSteps(net), 1);
  net.dims = "2,40,40,64";
  EXPECT_EQ(FusedSteps(net), 1);
  net.dims = "1,41,39,64";  // the last row and column are in no window
  EXPECT_EQ(FusedSteps(net), 1);
  net.tail = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],auto_pad=\"valid\"}";
  EXPECT_EQ(FusedSteps(net), 1);
  net.dims = "1,40,40,64";
  net.conv =
      "%a = Conv(%x, %w, _, %x) {channels_last=true,pads=[1,1,1,1],activation=\"clip\",act_alpha=-1.0,"
      "act_beta=6.0}";
  EXPECT_EQ(FusedSteps(net), 1);
  net.tail = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],ceil_mode=true}";
  EXPECT_EQ(FusedSteps(net), 1) << "all windows are complete";
}

TEST(FuseNext, NotOtherPooling) {
  for (const char* attrs :
       {"kind=\"average\",kernel=[2,2],strides=[2,2]", "kind=\"max\",kernel=[3,3],strides=[2,2]",
        "kind=\"max\",kernel=[2,2],strides=[1,1]", "kind=\"max\",kernel=[2,2],strides=[2,1]",
        "kind=\"max\",kernel=[2,1],strides=[2,1]", "kind=\"max\",kernel=[2,2],strides=[2,2],pads=[1,1,1,1]",
        "kind=\"max\",kernel=[2,2],strides=[2,2],pads=[0,0,1,1]",
        "kind=\"max\",kernel=[2,2],strides=[2,2],dilations=[2,2]"}) {
    SCOPED_TRACE(attrs);
    Net net;
    net.dims = "1,41,41,64";
    net.tail = StrCat("%y = Pool(%a) {channels_last=true,", attrs, "}");
    EXPECT_EQ(FusedSteps(net), 0);
  }
  Net odd;
  odd.dims = "1,41,41,64";
  odd.tail = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],ceil_mode=true}";
  EXPECT_EQ(FusedSteps(odd), 0) << "windows extend past the edge";
}

TEST(FuseNext, NotWithOtherReadersOrOtherKernels) {
  Net net;
  net.outputs = "%y, %a";
  EXPECT_EQ(FusedSteps(net), 0);
  net.outputs = "%y, %b";
  net.tail += "\n  %b = Unary(%a) {kind=\"neg\"}";
  EXPECT_EQ(FusedSteps(net), 0);
  net = {};
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],activation=\"gelu\"}";
  EXPECT_EQ(FusedSteps(net), 0) << "gelu is applied after the result is stored";
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net), 0) << "Winograd needs stride 1";
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1]}\n  %c = Unary(%a) {kind=\"neg\"}";
  net.tail = "%y = Pool(%c) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net), 0) << "another node is in between";
}

TEST(FuseNext, InSlicesOfABatch) {
  Net net;
  net.dims = "5,40,40,64";
  SessionOptions options;
  options.value_cache = 900000;
  EXPECT_GE(FusedSteps(net, options), 3);
}

TEST(FuseNext, InBf16) {
  Net net;
  SessionOptions options;
  options.precision = Precision::kBf16;
  EXPECT_EQ(FusedSteps(net, options), 1);
  net.tail =
      "%p = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}\n  "
      "%y = Conv(%p, %w) {channels_last=true,strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net, options), 1) << "the pooled value is stored as bf16";
}

// A kernel for the next test. Compilation chooses the kernel of a node twice, first for fusion and then for
// the step. Another session may measure kernels in between. The test checks that the step runs the kernel
// that accepted the fusion.
class WritesZeros : public KernelOf<WritesZeros> {
 public:
  Status Run(RunContext& c) override {
    std::fill_n(c.Out<float>(0), c.Out(0).size(), 0.f);
    return {};
  }
};
TEST(FuseNext, TheKernelThatFusesRuns) {
  bool agreed = false;
  KernelTable table;
  KernelEntry first;
  first.op = "Conv", first.name = "test.both", first.cost = 0.1;
  first.legal = [&](const KernelQuery&) { return !agreed; };
  first.make = [] { return std::make_unique<WritesZeros>(); };
  first.can.fuses_next = [&](const KernelQuery&, const KernelQuery&) { return agreed = true; };
  table.Add(first);
  table.Add<WritesZeros>("Conv", "test.alone", [](const KernelQuery&) { return true; });
  SessionOptions options;
  options.target = KeepTarget(table);
  auto session = SessionOf(Net().Make(), options);
  const auto got = session->Run(DatumList{Noise({1, 40, 40, kFusedChannels}, 3)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ASSERT_EQ(session->Steps().size(), 1u);
  EXPECT_EQ(session->Steps()[0].kernel, "test.both");
}

// A kernel for the next test. When FuseNext runs, the kernels of nodes that cannot fuse are not measured yet.
// The test checks that FuseNext does not choose kernels for these nodes.
template <int kSlow> class Product : public KernelOf<Product<kSlow>> {
 public:
  static constexpr const char* kPack = kSlow ? "test.slow" : "test.quick";
  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(1);
    TERN_ASSIGN(packed_, c.Packed({1}, DType::kF32, w.dims(),
                                  [&](Tensor& to) { std::memcpy(to.raw(), w.raw(), to.bytes()); }));
    return {};
  }
  Status Run(RunContext& c) override {
    if (kSlow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::fill_n(c.Out<float>(0), c.Out(0).size(), 0.f);
    return {};
  }

 private:
  Tensor packed_;
};
TEST(FuseNext, OtherNodesAreMeasured) {
  KernelTable table(CpuRates());
  const auto legal = [](const KernelQuery& q) { return q.IsWeight(1); };
  table.Add<Product<1>>("MatMul", "test.slow", legal, 1);
  table.Add<Product<0>>("MatMul", "test.quick", legal, 1.5);
  for (const KernelEntry* entry : CpuKernels().Of("Unary")) table.Add(*entry);
  SessionOptions options;
  options.target = KeepTarget(table);
  options.tune_ms = 20000;
  options.cache_dir = "";
  auto session = SessionOf(ParseOrDie("graph @g(%x: f32[3,2]) -> (%y) {\n  #w: f32[2,2] = (1, 2, 3, 4)\n"
                                      "  %a = MatMul(%x, #w)\n  %y = Relu(%a)\n}"),
                           options);
  ASSERT_TRUE(session->Run(DatumList{Counting({3, 2})}).ok());
  EXPECT_EQ(session->Steps()[0].kernel, "test.quick");
}

TEST(FuseNext, SavesTheMemoryOfTheIntermediateValue) {
  Net net, unfused;
  unfused.outputs = "%y, %a";
  size_t arena[2];
  for (int i = 0; i < 2; ++i) {
    auto session = SessionOf((i ? unfused : net).Make());
    ASSERT_TRUE(session->Run(DatumList{Noise({1, 40, 40, kFusedChannels}, 3)}).ok());
    arena[i] = session->Memory().arena;
  }
  // Without fusion, the pooled value may reuse the scratch memory of the convolution. So the difference can
  // be smaller than the intermediate value.
  const size_t intermediate = 40 * 40 * kFusedChannels * sizeof(float);
  EXPECT_GE(arena[1], arena[0] + intermediate - intermediate / 4);
}

}  // namespace
}  // namespace tern
