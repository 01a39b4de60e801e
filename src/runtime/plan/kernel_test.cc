// Tests how kernels are selected. Also tests that Prepare is called once per model and Resize once per set of
// shapes.
#include "kernel_api/kernel_table.h"

#include <atomic>

#include "runtime/test_support.h"

namespace tern {
namespace {

std::atomic<int> prepared{0}, resized{0}, ran{0}, preparers{0};

// Computes y = x + the sum of the weight's elements. Counts its calls.
class Counted : public KernelOf<Counted> {
 public:
  Status Prepare(PrepareContext& c) override {
    ++prepared;
    preparers = c.workers().threads();
    if (const Tensor* w = c.Weight(1)) {
      packed_ = c.AllocateWeights(DType::kF32, {1});
      for (double v : ToDoubles(*w)) packed_.data<float>()[0] += static_cast<float>(v);
    }
    return {};
  }
  Status Resize(ResizeContext& c) override {
    ++resized;
    c.SetScratch(static_cast<size_t>(CountOf(c->InDims(0))) * 4);
    return {};
  }
  Status Run(RunContext& c) override {
    ++ran;
    float* scratch = c.scratch<float>();
    const int64_t n = c.Out(0).size();
    for (int64_t i = 0; i < n; ++i) scratch[i] = c.In<float>(0)[i] + packed_.data<float>()[0];
    for (int64_t i = 0; i < n; ++i) c.Out<float>(0)[i] = scratch[i];
    return {};
  }

 private:
  Tensor packed_;
};

KernelTable CountedTable() {
  KernelTable table;
  table.Add<Counted>(
      "Binary", "test.slow", [](const KernelQuery& q) { return q.IsWeight(1); }, 5);
  table.Add<Counted>(
      "Binary", "test.fast", [](const KernelQuery& q) { return q.IsWeight(1) && q.InRank(0) == 2; }, 2);
  return table;
}

TEST(KernelTable, RefusesTwoKernelsOfTheSameName) {
  KernelTable table = CountedTable();
  const auto always = [](const KernelQuery&) { return true; };
  EXPECT_THROW(table.Add<Counted>("Binary", "test.fast", always), InternalError);
  EXPECT_EQ(table.Of("Binary").size(), 2u);
  table.Add<Counted>("Unary", "test.fast", always);
  EXPECT_EQ(table.Of("Unary").size(), 1u);
}

TEST(Kernel, IsPreparedOncePerModelAndResizedOncePerShapes) {
  const KernelTable table = CountedTable();
  SessionOptions options;
  options.target = KeepTarget(table);
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,M]) -> (%y) {
    #w: f32[1,1] = (3)
    %y = %x + #w
  })"),
                           options);
  prepared = resized = ran = 0;
  for (int round = 0; round < 2; ++round)
    for (int64_t n = 1; n <= 4; ++n) ExpectLikeReference(*session, {Counting({n, 5})});
  auto clone = session->Clone();
  ExpectLikeReference(*clone, {Counting({2, 5})});
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(resized, 4) << "the clone uses the plan of the session";
  EXPECT_EQ(ran, 18);
  EXPECT_EQ(session->Memory().packed, 4u);
  EXPECT_EQ(session->Steps()[0].kernel, "test.fast");
}

TEST(Kernel, IsPreparedByTheSessionsThreads) {
  const KernelTable table = CountedTable();
  for (int threads : {1, 2, 3}) {
    SessionOptions options;
    options.target = KeepTarget(table);
    options.threads = threads;
    auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[2,2]) -> (%y) {
      #w: f32[1,1] = (3)
      %y = %x + #w
    })"),
                             options);
    ExpectLikeReference(*session, {Counting({2, 2})});
    EXPECT_EQ(preparers, Workers(threads).threads());
  }
}

TEST(Kernel, TheCheapestLegalOneIsChosen) {
  const KernelTable table = CountedTable();
  InitOps();
  const OpDef& op = *FindOp("Binary");
  KernelQuery query(op, op.defaults);
  query.inputs = {{DType::kF32, {2, 2}}, {DType::kF32, {2, 2}}};
  query.outputs = {{DType::kF32, {2, 2}}};
  query.known = {nullptr, nullptr};
  query.weight = {false, true};
  EXPECT_EQ(table.Select(query)->name, "test.fast");
  query.inputs[0].dims = {2};
  EXPECT_EQ(table.Select(query)->name, "test.slow");
  query.weight = {false, false};
  EXPECT_EQ(table.Select(query), nullptr);
  EXPECT_EQ(table.Of("Binary").size(), 2u);
  EXPECT_TRUE(table.Of("Unary").empty());
}

}  // namespace
}  // namespace tern
