// Pooling that is done in the step of its convolution: where, and that nothing changes.
#include "runtime/plan/fuse_next.h"

#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/bind/cpu_kernels.h"
#include "runtime/cost/cost_model.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

constexpr int64_t kChannels = 64;

// A convolution of %x with channels last that Winograd's kernels win, then `rest`, which gives %y.
struct Net {
  std::string dims = "1,40,40,64";
  std::string conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],activation=\"relu\"}";
  std::string rest = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}";
  std::string outputs = "%y";

  std::shared_ptr<const Graph> Make() const {
    InitOps();
    auto graph = ParseGraph(StrCat("graph @g(%x: f32[", dims, "], %w: f32[64,64,3,3]) -> (", outputs,
                                   ") {\n  ", conv, "\n  ", rest, "\n}"));
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    (*graph)->InputToConstant((*graph)->inputs()[1], Noise({kChannels, kChannels, 3, 3}, 7));
    return std::move(*graph);
  }
};

// How many nodes were done in another's step. The outputs are those of the reference, as near as Winograd's
// are, and the same for any number of threads.
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
  net.dims = "1,41,39,64";  // a last row and a last column that no window holds
  EXPECT_EQ(FusedSteps(net), 1);
  net.rest = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],auto_pad=\"valid\"}";
  EXPECT_EQ(FusedSteps(net), 1);
  net.dims = "1,40,40,64";
  net.conv =
      "%a = Conv(%x, %w, _, %x) {channels_last=true,pads=[1,1,1,1],activation=\"clip\",act_alpha=-1.0,"
      "act_beta=6.0}";
  EXPECT_EQ(FusedSteps(net), 1);
  net.rest = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],ceil_mode=true}";
  EXPECT_EQ(FusedSteps(net), 1) << "nothing is left over";
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
    net.rest = StrCat("%y = Pool(%a) {channels_last=true,", attrs, "}");
    EXPECT_EQ(FusedSteps(net), 0);
  }
  Net odd;
  odd.dims = "1,41,41,64";
  odd.rest = "%y = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2],ceil_mode=true}";
  EXPECT_EQ(FusedSteps(odd), 0) << "windows over the edge";
}

TEST(FuseNext, NotWhatOthersReadOrOtherKernelsMake) {
  Net net;
  net.outputs = "%y, %a";
  EXPECT_EQ(FusedSteps(net), 0);
  net.outputs = "%y, %b";
  net.rest += "\n  %b = Unary(%a) {kind=\"neg\"}";
  EXPECT_EQ(FusedSteps(net), 0);
  net = {};
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],activation=\"gelu\"}";
  EXPECT_EQ(FusedSteps(net), 0) << "applied in memory";
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1],strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net), 0) << "no Winograd";
  net.conv = "%a = Conv(%x, %w) {channels_last=true,pads=[1,1,1,1]}\n  %c = Unary(%a) {kind=\"neg\"}";
  net.rest = "%y = Pool(%c) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net), 0) << "something lies between";
}

TEST(FuseNext, WithPiecesOfABatch) {
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
  net.rest =
      "%p = Pool(%a) {channels_last=true,kind=\"max\",kernel=[2,2],strides=[2,2]}\n  "
      "%y = Conv(%p, %w) {channels_last=true,strides=[2,2]}";
  EXPECT_EQ(FusedSteps(net, options), 1) << "what is pooled lies in memory as bf16";
}

// Kernels are chosen twice, and others may have measured meanwhile: the one that agreed is the one that runs.
class WritesZeros : public KernelOf<WritesZeros> {
 public:
  Status Run(RunContext& c) override {
    std::fill_n(c.Out<float>(0), c.Out(0).size(), 0.f);
    return {};
  }
};
TEST(FuseNext, TheKernelThatAgreedRuns) {
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
  const auto got = session->Run(DatumList{Noise({1, 40, 40, kChannels}, 3)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  ASSERT_EQ(session->Steps().size(), 1u);
  EXPECT_EQ(session->Steps()[0].kernel, "test.both");
}

// Whether a node could fuse the next is asked before all is measured: it must not decide about others.
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
TEST(FuseNext, LeavesOthersToTheirMeasurements) {
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

// What lies between takes no memory.
TEST(FuseNext, SavesTheMemoryBetween) {
  Net net, both;
  both.outputs = "%y, %a";
  size_t arena[2];
  for (int i = 0; i < 2; ++i) {
    auto session = SessionOf((i ? both : net).Make());
    ASSERT_TRUE(session->Run(DatumList{Noise({1, 40, 40, kChannels}, 3)}).ok());
    arena[i] = session->Memory().arena;
  }
  // Pooled results may lie where the convolution had its scratch memory once that is done.
  const size_t between = 40 * 40 * kChannels * sizeof(float);
  EXPECT_GE(arena[1], arena[0] + between - between / 4);
}

}  // namespace
}  // namespace tern
