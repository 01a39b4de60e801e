// Tests that a session that cannot be created, because an allocation fails, returns an error.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/ops.h"
#include "runtime/exec/session.h"
#include "runtime/memory/allocation_counter.h"

namespace tern {
namespace {

// Rules fold constants, fuse nodes, replace several outputs and inline a branch.
constexpr const char* kGraph = R"(graph @g(%x: f32[N,2,4,4]) -> (%y, %z) {
  #w: f32[2,2,1,1] = (1, 2, 3, 4)
  #scale: f32[2] = (1, 2)  #bias: f32[2] = (0, 1)  #mean: f32[2] = (0, 0)  #var: f32[2] = (1, 1)
  #yes: bool[] = (true)
  %c = Conv(%x, #w)
  %n = BatchNorm(%c, #scale, #bias, #mean, #var)
  %r = Relu(%n)
  %t = Transpose(%r) {perm=[0,2,3,1]}
  %u = Transpose(%t) {perm=[0,3,1,2]}
  %s = %u * Sigmoid(%u)
  %y = %s + %x
  %z = If(#yes) [then @t() -> (%a) { %a = Neg(Relu(%s)) } else @e() -> (%b) { %b = Relu(%s) }]
})";

TEST(CreateFailure, AnyAllocationMayFail) {
  InitOps();
  const auto graph = ParseGraph(kGraph);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  SessionOptions options;
  options.threads = 1;
  options.level = Level::kLayout;
  ASSERT_TRUE(Session::Create((*graph)->Clone(), options).ok());  // loads tables that are made once
  bool failed = true;
  for (int n = 0; failed; n += 3) {  // about 9,500 allocations
    ASSERT_LT(n, 1'000'000);
    std::shared_ptr<const Graph> copy = (*graph)->Clone();
    Status status;
    {
      const AllocationFailure failure(n);
      status = Session::Create(std::move(copy), options).status();
    }
    failed = !status.ok();
    if (!failed) break;
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << n << ": " << status.ToString();
  }
}

}  // namespace
}  // namespace tern
