// Tests that a run that fails does not change the states, and that the next run returns the right outputs.
#include "kernel_api/kernel_table.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/cost/cost_model.h"
#include "runtime/exec/state_test_support.h"
#include "runtime/memory/allocation_counter.h"
#include "runtime/memory/state_memory.h"

namespace tern {
namespace {

bool resize_fails = false;

class Negate : public KernelOf<Negate> {
 public:
  Status Resize(ResizeContext& c) override {
    if (resize_fails) return ResourceExhausted("no memory");
    size_ = CountOf(c->InDims(0));
    return {};
  }
  Status Run(RunContext& c) override {
    for (int64_t i = 0; i < size_; ++i) c.Out<float>(0)[i] = -c.In<float>(0)[i];
    return {};
  }

 private:
  int64_t size_ = 0;
};

TEST(StateFailure, AResizeThatFailsIsRepeated) {
  KernelTable table(CpuRates());
  table.Add<Negate>("Unary", "test.negate", [](const KernelQuery&) { return true; });
  const CpuTarget target(std::vector<const KernelTable*>{&table, &CpuKernels()});
  SessionOptions options;
  options.target = &target;
  SessionAndReference both(R"(graph @g(%x: f32[N,4], %past: f32[P,4]) -> (%y, %present) {
    state %past -> %present {axis=0}
    #axis: i64[1] = (0)
    %present = Concat(%past, %x) {axis=0}
    %y = ReduceSum(Neg(%present), #axis)
  })",
                           {Tensor(DType::kF32, {0, 4})}, options);
  for (int run = 0; run < 8; ++run) {
    const Tensor x = Noise({run == 0 ? 3 : 1, 4}, static_cast<uint32_t>(run));
    if (run == 5) {
      resize_fails = true;
      ASSERT_TRUE(both.session().BindInput(0, x).ok());
      EXPECT_EQ(both.session().Run().code(), Code::kResourceExhausted);
      resize_fails = false;
    }
    both.Run({x});
    ASSERT_FALSE(HasFailure()) << run;
  }
  EXPECT_LE(both.session().PlansMade(), 3);
}

// The sizes of the presents are known only after the run, so the memory of both states grows after the run.
TEST(StateFailure, NoStateAdvancesIfAnAllocationFails) {
  const auto graph = ParseOrDie(R"(graph @g(%x: f32[N], %p: i64[P], %q: i64[P]) -> (%y, %np, %nq) {
    state %p -> %np {axis=0}
    state %q -> %nq {axis=0}
    #flat: i64[1] = (-1)
    %found = Reshape(NonZero(%x), #flat)
    %np = Concat(%p, %found) {axis=0}
    %nq = Concat(%found, %q) {axis=0}
    %y = Relu(%x)
  })");
  SessionOptions options;
  options.threads = 1;
  const auto first = SessionOf(graph, options);
  const Tensor x = Counting({40}, 1);
  bool failed = true;
  for (int n = 0; failed; ++n) {
    ASSERT_LT(n, 1000);
    const auto session = first->Clone();
    ASSERT_TRUE(session->BindInput(0, x).ok());
    ASSERT_TRUE(session->Run().ok());
    const auto p = session->GetState("p"), q = session->GetState("q");
    ASSERT_TRUE(p.ok() && q.ok());
    Status status;
    {
      const AllocationFailure failure(n);
      status = session->Run();  // needs 80 positions; the capacity is 64
    }
    failed = !status.ok();
    if (failed) {
      EXPECT_TRUE(SameTensor(*session->GetState("p"), *p)) << n << ": " << status.ToString();
      EXPECT_TRUE(SameTensor(*session->GetState("q"), *q)) << n << ": " << status.ToString();
      status = session->Run();
      ASSERT_TRUE(status.ok()) << n << ": " << status.ToString();
    }
    EXPECT_EQ(session->GetState("p")->dim(0), 80) << n;
    EXPECT_EQ(session->GetState("q")->dim(0), 80) << n;
  }
}

TEST(StateFailure, MemoryIsAsBeforeIfAnAllocationFails) {
  const Tensor value = Counting({2, 3, 1}), longer = Counting({2, 100, 1});
  const auto expect_unchanged = [&](const char* what, const std::function<void(StateMemory&)>& change) {
    bool failed = true;
    for (int n = 0; failed; ++n) {
      ASSERT_LT(n, 100);
      StateMemory memory(DType::kF32, {2, 0, 1}, 1);
      ASSERT_TRUE(memory.Set(value).ok());
      memory.Reserve(4, true);
      {
        const AllocationFailure failure(n);
        failed = !Guard([&]() -> Status {
                    change(memory);
                    return {};
                  }).ok();
      }
      if (!failed) break;
      EXPECT_TRUE(memory.strided()) << what << " " << n;
      EXPECT_EQ(memory.length(), 3) << what << " " << n;
      EXPECT_TRUE(SameTensor(memory.Value(), value)) << what << " " << n;
    }
  };
  expect_unchanged("another layout", [](StateMemory& memory) { memory.Reserve(4, false); });
  expect_unchanged("growth", [](StateMemory& memory) { memory.Reserve(100, false); });
  // Row 2 is the spare row.
  expect_unchanged("moved rows", [](StateMemory& memory) {
    memory.MoveRows(0, {{.from = 0, .to = 1}, {.from = 0, .to = 2}});
  });
  expect_unchanged("a longer value", [&](StateMemory& memory) { TERN_CHECK(memory.Set(longer).ok(), ""); });
}

}  // namespace
}  // namespace tern
