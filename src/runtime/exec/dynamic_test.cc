// Tests steps whose shapes depend on data.
#include "runtime/memory/dynamic_pool.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// NonZero finds the nonzero elements of %m, and Gather reads the elements of %x at these indices. The steps
// after NonZero have dynamic shapes, except %fixed.
constexpr const char* kSelect = R"(graph @g(%x: f32[8], %m: f32[8]) -> (%values, %count, %sum, %fixed) {
  #flat: i64[1] = (-1)
  #axes: i64[1] = (0)
  #zero: i64[] = (0)
  %found = NonZero(%m)
  %where = Reshape(%found, #flat)
  %picked = Gather(%x, %where) {axis=0}
  %values = Relu(%picked)
  %twice = %values + %values
  %count = Shape(%twice)
  %sum = ReduceSum(%twice, #axes) {keep_dims=true}
  %fixed = %x + %sum
})";

Tensor Mask(unsigned bits) {
  std::vector<double> values;
  for (int i = 0; i < 8; ++i) values.push_back(bits >> i & 1);
  return Tensor::Of(DType::kF32, {8}, values);
}

TEST(Dynamic, ErrorsNameTheNodeOnce) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%m: f32[8], %w: f32[3,8]) -> (%y) {
    %found = NonZero(%m)
    %f = Cast(%found) {to=f32}
    %y = MatMul(%f, %w) as "the product"
  })"));
  auto run = session->Run({Mask(3), Counting({3, 8})});
  ASSERT_FALSE(run.ok());
  const std::string text = run.status().message();
  const size_t at = text.find("the product");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("the product", at + 1), std::string::npos) << text;
}

TEST(Dynamic, FollowsTheData) {
  auto session = SessionOf(ParseOrDie(kSelect));
  for (unsigned bits : {0xffu, 0x0u, 0x5u, 0xf0u, 0x1u}) {
    ExpectLikeReference(*session, {Counting({8}), Mask(bits)});
    ASSERT_FALSE(HasFailure()) << bits;
  }
  EXPECT_EQ(session->PlansMade(), 1);
}

TEST(Dynamic, NamesTheOpsWithoutAKernel) {
  auto session = SessionOf(ParseOrDie(kSelect));
  ASSERT_TRUE(session->Run(DatumList{Counting({8}), Mask(3)}).ok());
  bool found = false;
  for (const Fallback& f : session->Fallbacks()) {
    found |= f.op == "NonZero";
    EXPECT_NE(f.op, "Shape");
    EXPECT_NE(f.op, "Unary");
  }
  EXPECT_TRUE(found);
}

// Choices returns the kernel of the last run, and the candidates' times for the dims of that run.
TEST(Dynamic, ExplainsWhatIsChosenInRuns) {
  SessionOptions options;
  options.explain = true;
  auto session = SessionOf(ParseOrDie(R"(graph @g(%m: f32[4096], %w: f32[1,64]) -> (%y) {
    %found = NonZero(%m)
    %f = Cast(%found) {to=f32}
    #dims: i64[2] = (-1, 1)
    %column = Reshape(%f, #dims)
    %y = MatMul(%column, %w) as "the product"
  })"),
                           options);
  const auto product = [&](int64_t ones) {
    std::vector<double> mask(4096, 0.0);
    std::fill_n(mask.begin(), ones, 1.0);
    EXPECT_TRUE(session->Run(DatumList{Tensor::Of(DType::kF32, {4096}, mask), Counting({1, 64})}).ok());
    for (const Choice& choice : session->Choices())
      if (choice.node->name == "the product") return choice;
    return Choice();
  };
  const Choice small = product(2), large = product(4000), repeated = product(4000);
  ASSERT_TRUE(small.node && large.node && repeated.node);
  EXPECT_TRUE(small.in_run);
  EXPECT_EQ(large.kernel, session->Steps().back().kernel);
  ASSERT_FALSE(small.candidates.empty());
  EXPECT_LT(small.candidates[0].estimated_us, large.candidates[0].estimated_us);
  EXPECT_EQ(repeated.candidates[0].estimated_us, large.candidates[0].estimated_us);
}

TEST(Dynamic, KeepsItsBlocksBetweenRuns) {
  auto session = SessionOf(ParseOrDie(kSelect));
  size_t bytes[2] = {};
  for (size_t& after : bytes) {
    for (unsigned bits = 0; bits < 256; ++bits)
      ASSERT_TRUE(session->Run(DatumList{Counting({8}), Mask(bits)}).ok());
    after = session->Memory().dynamic;
  }
  EXPECT_GT(bytes[0], 0u);
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Dynamic, ResultsOutliveTheNextRunWhenCopied) {
  auto session = SessionOf(ParseOrDie(kSelect));
  auto first = session->Run(DatumList{Counting({8}, 1), Mask(0x3)});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(session->Run(DatumList{Counting({8}, 5), Mask(0x3)}).ok());
  EXPECT_EQ(ToDoubles((*first)[0].tensor), (std::vector<double>{1, 2}));
}

TEST(DynamicPool, ReusesFreeBlocks) {
  DynamicPool pool(1 << 20);
  const void* first = nullptr;
  {
    auto a = pool.Take(1000);
    ASSERT_TRUE(a.ok());
    first = a->data();
  }
  auto b = pool.Take(900);
  EXPECT_EQ(b->data(), first);
  auto c = pool.Take(900);
  EXPECT_NE(c->data(), first);
  const Buffer window = b->Slice(10, 10);
  *b = Buffer();
  EXPECT_NE(pool.Take(900)->data(), first) << "a slice still refers to the block";
}

TEST(DynamicPool, EnforcesItsLimit) {
  DynamicPool pool(4096);
  auto a = pool.Take(3000);
  ASSERT_TRUE(a.ok());
  auto b = pool.Take(3000);
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace tern
