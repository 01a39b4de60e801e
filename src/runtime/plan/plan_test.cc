// Tests memory sharing, constant folding and dead-code elimination of plans.
#include "runtime/plan/plan.h"

#include <cmath>
#include <random>

#include "runtime/exec/runner.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

struct Compiled {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Engine> engine;
  DatumList inputs;
  Execution* execution = nullptr;
  const Plan* plan = nullptr;
};

Compiled Compile(const std::string& text, DatumList inputs) {
  Compiled c;
  c.graph = ParseOrDie(text);
  c.inputs = std::move(inputs);
  const SessionOptions options =
      SessionOptions{.threads = 1, .plan_cache = 4, .memory_limit = size_t{1} << 30}.Resolved();
  auto model = Model::Create(c.graph, options, Workers(1));
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  c.engine = std::make_unique<Engine>(*model, options);
  std::vector<BoundValue> bound;
  for (const Datum& d : c.inputs) bound.push_back({&d, false});
  auto plan = c.engine->RunnerFor((*model)->program()).Run(bound);
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  if (plan.ok()) c.execution = *plan, c.plan = &c.execution->plan();
  return c;
}

void ExpectOutput(const Compiled& c, int i) {
  auto want = EvaluateGraph(*c.graph, c.inputs);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  EXPECT_TRUE(SameTensor(c.execution->Output(i).tensor, (*want)[static_cast<size_t>(i)].tensor));
}

TEST(Plan, WritesInPlaceWhereTheInputDies) {
  const auto c = Compile(R"(graph @g(%x: f32[64,64]) -> (%y) {
    %a = %x + %x
    %b = Relu(%a)
    %c = Relu(%b)
    %y = %c + %c
  })",
                         {Counting({64, 64})});
  EXPECT_EQ(c.plan->arena_bytes(), 64u * 64 * 4);
  ExpectOutput(c, 0);
}

// ScatterND may overwrite the tensor that it updates, but not the updates, and not a tensor that is both.
TEST(Plan, ScattersInPlaceIntoTheFirstInputOnly) {
  const auto c = Compile(R"(graph @g(%x: f32[4,64], %z: f32[2,64]) -> (%y) {
    #i: i64[2,1] = (1, 2)
    %y = Relu(ScatterND(Relu(%x), #i, %z))
  })",
                         {Counting({4, 64}), Counting({2, 64})});
  EXPECT_EQ(c.plan->arena_bytes(), 4u * 64 * 4);
  ExpectOutput(c, 0);
  for (const char* operands : {"%x, #i, %a", "%a, #i, %a", "%a, #i, %b"}) {
    SCOPED_TRACE(operands);
    const auto same = Compile(StrCat(R"(graph @g(%x: f32[4,64]) -> (%y) {
      #i: i64[4,1] = (1, 2, 3, 0)
      %a = Relu(%x)
      %b = %x + %x
      %y = Relu(ScatterND()",
                                     operands, "))\n}"),
                              {Counting({4, 64})});
    ExpectOutput(same, 0);
  }
}

// The graph lists its nodes in breadth-first order, so all wide values are computed before the first of them
// is reduced. In depth-first order, only one wide value is alive at a time.
TEST(Plan, RunsStepsInAnOrderThatHoldsLessMemory) {
  const auto c = Compile(R"(graph @g(%x: f32[1,64]) -> (%y) {
    #wide: i64[2] = (256, 64)
    #axis: i64[1] = (0)
    %a = Expand(%x, #wide)
    %b = Expand(Relu(%x), #wide)
    %c = Expand(Sigmoid(%x), #wide)
    %d = Expand(%x + %x, #wide)
    %p = ReduceSum(%a, #axis)
    %q = ReduceSum(%b, #axis)
    %r = ReduceSum(%c, #axis)
    %s = ReduceSum(%d, #axis)
    %y = %p + %q + (%r + %s)
  })",
                         {Counting({1, 64})});
  const size_t wide = 256 * 64 * 4;
  EXPECT_LT(c.plan->arena_bytes(), wide + wide / 8);
  auto want = EvaluateGraph(*c.graph, c.inputs);
  ASSERT_TRUE(want.ok()) << want.status().ToString();
  const auto got = ToDoubles(c.execution->Output(0).tensor), expected = ToDoubles((*want)[0].tensor);
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], expected[i], 1e-4 * std::abs(expected[i]) + 1e-2);
}

TEST(Plan, TransposesThatMoveNothingAreViews) {
  const auto c = Compile(R"(graph @g(%x: f32[1,64,1,8]) -> (%y) {
    %a = %x + %x
    %b = Transpose(%a) {perm=[2,1,3,0]}
    %c = Relu(%b)
    %d = Transpose(%c) {perm=[0,2,1,3]}
    %y = %d + %d
  })",
                         {Counting({1, 64, 1, 8})});
  EXPECT_EQ(c.plan->steps().size(), 4u) << "one Transpose is left";
  ExpectOutput(c, 0);
}

TEST(Plan, KeepsTheOriginalOrderIfNoneIsBetter) {
  for (const auto& [first, second] : {std::pair("a", "b"), std::pair("b", "a")}) {
    const auto c = Compile(StrCat("graph @g(%x: f32[64]) -> (%y) {\n%", first, " = Relu(%x)\n%", second,
                                  " = Sigmoid(%x)\n%y = %a + %b\n}"),
                           {Counting({64})});
    ASSERT_EQ(c.plan->steps().size(), 3u);
    EXPECT_EQ(c.plan->steps()[0].node->node().output(0)->name, first);
    EXPECT_EQ(c.plan->steps()[1].node->node().output(0)->name, second);
  }
}

TEST(Plan, KeepsAnInputThatIsReadLater) {
  const auto c = Compile(R"(graph @g(%x: f32[64]) -> (%y, %a) {
    %a = %x + %x
    %b = Relu(%a)
    %y = %b + %a
  })",
                         {Counting({64})});
  EXPECT_EQ(c.plan->arena_bytes(), 2 * 64u * 4);
  ExpectOutput(c, 0);
  ExpectOutput(c, 1);
}

TEST(Plan, DoesNotOverwriteWhatAnotherInputStillReads) {
  // %r is a view of the first row of %a. If the sum were written to the memory of %a, the step would change
  // %r while it reads %r.
  const auto c = Compile(R"(graph @g(%x: f32[4,64]) -> (%y) {
    #s: i64[1] = (0)
    #e: i64[1] = (1)
    %a = %x + %x
    %r = Slice(%a, #s, #e)
    %y = %a + %r
  })",
                         {Counting({4, 64})});
  ExpectOutput(c, 0);
}

TEST(Plan, ViewsTakeNoStepAndNoMemory) {
  const auto c = Compile(R"(graph @g(%x: f32[2,6]) -> (%y) {
    #shape: i64[2] = (3, -1)
    #axes: i64[1] = (0)
    #start: i64[1] = (1)
    #end: i64[1] = (3)
    %a = Reshape(%x, #shape)
    %b = Slice(%a, #start, #end)
    %p, %q = Split(%b) {axis=0}
    %u = Unsqueeze(%q, #axes)
    %f = Flatten(%u) {axis=1}
    %y = Relu(%f)
  })",
                         {Counting({2, 6})});
  EXPECT_EQ(c.plan->steps().size(), 1u);
  EXPECT_EQ(c.plan->arena_bytes(), 64u);
  ExpectOutput(c, 0);
}

TEST(Plan, InputsOfAConcatAreWrittenIntoItsResult) {
  const auto c = Compile(R"(graph @g(%x: f32[16,4]) -> (%y, %n) {
    #k: f32[1,4] = (9, 8, 7, 6)
    %a = Relu(%x)
    %b = %x + %x
    %y = Concat(%a, %b, #k, %x, %a) {axis=0}
    %n = %y + %y
  })",
                         {Counting({16, 4})});
  // The four steps are Relu, the first add, a copy and the last add. The copy writes the constant, the input
  // and the second %a into the result of the Concat.
  EXPECT_EQ(c.plan->steps().size(), 4u);
  ExpectOutput(c, 0);
  ExpectOutput(c, 1);
}

TEST(Plan, ConcatOfConcatsIsOneBlock) {
  const auto c = Compile(R"(graph @g(%x: f32[1,64]) -> (%y) {
    %a = Relu(%x)
    %b = %x + %x
    %ab = Concat(%a, %b) {axis=1}
    %c = Relu(%ab)
    %abc = Concat(%ab, %c) {axis=1}
    %y = Relu(%abc)
  })",
                         {Counting({1, 64})});
  EXPECT_EQ(c.plan->arena_bytes(), 256u * 4);
  ExpectOutput(c, 0);
}

TEST(Plan, ShapeComputationsAreFolded) {
  const auto c = Compile(R"(graph @g(%x: f32[N,3,4]) -> (%y) {
    #zero: i64[1] = (0)
    #rest: i64[1] = (-1)
    %s = Shape(%x)
    %n = Gather(%s, #zero) {axis=0}
    %t = Concat(%n, #rest) {axis=0}
    %r = Reshape(%x, %t)
    %y = Relu(%r)
  })",
                         {Counting({2, 3, 4})});
  EXPECT_EQ(c.plan->steps().size(), 1u);
  EXPECT_EQ(c.execution->Output(0).tensor.dims(), (Dims{2, 12}));
  ExpectOutput(c, 0);
}

TEST(Plan, FoldsConstantsOnce) {
  const auto c = Compile(R"(graph @g(%x: f32[2]) -> (%y) {
    #a: f32[2] = (1, 2)
    %b = Relu(#a)
    %c = %b + #a
    %y = %x + %c
  })",
                         {Counting({2})});
  EXPECT_EQ(c.plan->steps().size(), 1u);
  EXPECT_EQ(c.engine->model->folded_bytes(), 8u);
  ExpectOutput(c, 0);
}

TEST(Plan, OutputsMayBeInputsAndConstants) {
  const auto c = Compile(R"(graph @g(%x: f32[3]) -> (%x, %k, %v) {
    #a: f32[2] = (1, 2)
    #shape: i64[2] = (3, 1)
    %k = Identity(#a)
    %v = Reshape(%x, #shape)
  })",
                         {Counting({3})});
  EXPECT_TRUE(c.plan->steps().empty());
  for (int i = 0; i < 3; ++i) ExpectOutput(c, i);
}

// Generates random graphs of views, in-place ops, Concats and Splits, in which many values share memory.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    text_ = "graph @g(%v0: f32[2,4], %v1: f32[1,8]) -> (";
    values_ = {{0, {2, 4}}, {1, {1, 8}}};
    const int nodes = 3 + static_cast<int>(random_() % 14);
    for (int i = 0; i < nodes; ++i) AddNode();
    const size_t outputs = 1 + random_() % 3;
    for (size_t i = 0; i < outputs; ++i)
      text_ += StrCat(i ? ", " : "", "%v", i == 0 ? values_.back().id : Pick().id);
    text_ += ") {\n" + body_ + "}";
  }
  const std::string& text() const { return text_; }

 private:
  struct GraphValue {
    int id;
    Dims dims;
  };
  const GraphValue& Pick() { return values_[random_() % values_.size()]; }
  const GraphValue* PickLike(const Dims& dims) {
    const size_t start = random_() % values_.size();
    for (size_t i = 0; i < values_.size(); ++i)
      if (const GraphValue& m = values_[(start + i) % values_.size()]; m.dims == dims) return &m;
    return nullptr;
  }
  std::string Ints(const std::vector<int64_t>& v) {
    const std::string name = StrCat("#c", constants_++);
    body_ += StrCat("  ", name, ": i64[", v.size(), "] = (", Join(v, ", "), ")\n");
    return name;
  }
  void Add(const Dims& dims, const std::string& call) {
    values_.push_back({next_, dims});
    body_ += StrCat("  %v", next_++, " = ", call, "\n");
  }

  void AddNode() {
    const GraphValue m = Pick();
    const int64_t count = CountOf(m.dims);
    const std::string x = StrCat("%v", m.id);
    switch (random_() % 6) {
      case 0:
        return Add(m.dims, StrCat("Relu(", x, ")"));
      case 1:
        return Add(m.dims, StrCat(x, " + %v", PickLike(m.dims)->id));
      case 2: {
        const Dims dims = random_() % 2 ? Dims{1, count} : count % 2 ? Dims{count, 1} : Dims{2, count / 2};
        const std::string shape = Ints(dims);
        return Add(dims, StrCat("Reshape(", x, ", ", shape, ")"));
      }
      case 3: {
        const int64_t axis = static_cast<int64_t>(random_() % 2);
        const GraphValue* other = PickLike(m.dims);
        Dims dims = m.dims;
        dims[static_cast<size_t>(axis)] *= 2;
        if (CountOf(dims) > 64) return Add(m.dims, StrCat("Relu(", x, ")"));
        return Add(dims, StrCat("Concat(", x, ", %v", other->id, ") {axis=", axis, "}"));
      }
      case 4: {
        const size_t axis = random_() % 2;
        Dims dims = m.dims;
        if (dims[axis] % 2) return Add(dims, StrCat("Identity(", x, ")"));
        dims[axis] /= 2;
        values_.push_back({next_, dims});
        values_.push_back({next_ + 1, dims});
        body_ += StrCat("  %v", next_, ", %v", next_ + 1, " = Split(", x, ") {axis=", axis, "}\n");
        next_ += 2;
        return;
      }
      default: {
        const size_t axis = random_() % 2;
        Dims dims = m.dims;
        const int64_t from = static_cast<int64_t>(random_() % static_cast<unsigned>(dims[axis]));
        const std::string starts = Ints({from}), ends = Ints({dims[axis]}),
                          axes = Ints({static_cast<int64_t>(axis)});
        dims[axis] -= from;
        return Add(dims, StrCat("Slice(", x, ", ", starts, ", ", ends, ", ", axes, ")"));
      }
    }
  }

  std::mt19937 random_;
  std::string text_, body_;
  std::vector<GraphValue> values_;
  int next_ = 2, constants_ = 0;
};

TEST(Plan, RandomGraphsMatchTheReference) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    const RandomGraph random(seed);
    auto session = SessionOf(ParseOrDie(random.text()));
    ASSERT_TRUE(session) << random.text();
    ExpectLikeReference(*session, {Counting({2, 4}), Counting({1, 8}, 3)});
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << random.text();
  }
}

}  // namespace
}  // namespace tern
