// Tests that steady-state runs do not allocate.
#include "runtime/memory/allocation_counter.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

TEST(Allocation, TheCounterCounts) {
  const AllocationCounter counter;
  { const Tensor t(DType::kF32, {16}); }
  EXPECT_GT(counter.count(), 0);
}

TEST(Allocation, SteadyStateRunsDoNotAllocate) {
  SessionOptions options;
  options.threads = 2;
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,64], %b: f32[N,64]) -> (%y, %z, %v) {
    #shape: i64[1] = (-1)
    %a = %x + %b
    %r = Relu(%a)
    %y = Concat(%r, %a, %x) {axis=0}
    %p, %q = Split(%y) {axis=0}
    %z = %p + %q
    %v = Reshape(%x, #shape)
  })"),
                           options);
  const Tensor x = Counting({512, 64}), b = Counting({512, 64}, 7);
  const Datum other(Counting({512, 64}, 9));
  const Tensor z(DType::kF32, {768, 64});
  ASSERT_TRUE(session->BindInput(0, x).ok());
  ASSERT_TRUE(session->BindInput(1, b).ok());
  for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE(session->Run().ok());
  EXPECT_TRUE(session->Fallbacks().empty());
  bool ok = true;
  {
    const AllocationCounter counter;
    for (int i = 0; i < 100; ++i) ok &= session->Run().ok();
    EXPECT_EQ(counter.count(), 0);
  }
  ASSERT_TRUE(session->BindOutput(1, z).ok());
  {
    // Binding other tensors of the same shape does not allocate either.
    const AllocationCounter counter;
    ok &= session->BindInput(0, other).ok();
    for (int i = 0; i < 100; ++i) ok &= session->Run().ok();
    EXPECT_EQ(counter.count(), 0);
  }
  EXPECT_TRUE(ok);
  EXPECT_EQ(z.data<float>()[0], (9 + 7) + (9 + 7 + 2 * 256 * 64));  // row 0 of %r, row 256 of %a
}

}  // namespace
}  // namespace tern
