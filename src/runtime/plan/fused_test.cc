// Tests kernels for nodes with subgraphs: Fused, Loop and If. A Fused without a kernel is inlined.
#include <cmath>

#include "ir/tern_file.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/memory/allocation_counter.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

bool IsBinary(const Node& node, const char* kind, const std::vector<Value*>& inputs) {
  return node.op->name == "Binary" && node.attrs.Text("kind") == kind && node.inputs() == inputs;
}

// Returns whether the body has three inputs u, v and w and computes u * v + w.
bool IsMulAdd(const Graph& body) {
  if (body.nodes().size() != 2 || body.inputs().size() != 3 || body.outputs().size() != 1) return false;
  const Node &mul = *body.nodes().front(), &add = *body.nodes().back();
  const std::vector<Value*>& in = body.inputs();
  return IsBinary(mul, "mul", {in[0], in[1]}) && IsBinary(add, "add", {mul.output(0), in[2]}) &&
         body.outputs()[0] == add.output(0);
}

std::atomic<int> fused_ran{0};

class MulAdd : public KernelOf<MulAdd> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (q.subgraphs.size() != 1 || !q.AllTypes(DType::kF32) || !IsMulAdd(*q.subgraphs[0])) return false;
    return q.InDims(0) == q.OutDims(0) && q.InDims(1) == q.OutDims(0) && q.InDims(2) == q.OutDims(0);
  }
  Status Run(RunContext& c) override {
    ++fused_ran;
    for (int64_t i = 0; i < c.Out(0).size(); ++i)
      c.Out<float>(0)[i] = c.In<float>(0)[i] * c.In<float>(1)[i] + c.In<float>(2)[i];
    return {};
  }
};

// A kernel for a Loop of n iterations whose body doubles its state: y = x * 2^n.
class Doubling : public KernelOf<Doubling> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (q.subgraphs.size() != 1 || q.OutType(0) != DType::kF32 || q.OutputCount() != 1) return false;
    const Graph& body = *q.subgraphs[0];
    if (body.nodes().size() != 1 || body.inputs().size() != 3) return false;
    Value* state = body.inputs()[2];
    return IsBinary(*body.nodes().front(), "add", {state, state}) && body.outputs()[0] == body.inputs()[1] &&
           q.Known(1) && LoadLong(*q.Known(1), 0);
  }
  Status Run(RunContext& c) override {
    const auto n = static_cast<int>(*c.In<int64_t>(0));
    for (int64_t i = 0; i < c.Out(0).size(); ++i) c.Out<float>(0)[i] = std::ldexp(c.In<float>(2)[i], n);
    return {};
  }
};

// A kernel for an If whose branches read only constants. Prepare evaluates both branches.
class ConstantIf : public KernelOf<ConstantIf> {
 public:
  Status Prepare(PrepareContext& c) override {
    for (const Graph* branch : c.subgraphs()) {
      TERN_ASSIGN(const DatumList values, EvaluateGraph(*branch, {}));
      values_.push_back(values[0].tensor);
    }
    return {};
  }
  Status Run(RunContext& c) override {
    const Tensor& value = values_[*c.In<bool>(0) ? 0 : 1];
    std::copy_n(value.data<const float>(), value.size(), c.Out<float>(0));
    return {};
  }

 private:
  std::vector<Tensor> values_;
};

// A kernel for x + w and x - w with a weight w. It packs w or -w, and is legal only for one row.
class AddSigned : public KernelOf<AddSigned> {
 public:
  static constexpr const char* kPack = "test.signed";
  static bool Legal(const KernelQuery& q) {
    if (q.subgraphs.size() != 1 || q.InputCount() != 2 || !q.IsWeight(1) || !q.AllTypes(DType::kF32))
      return false;
    const Graph& body = *q.subgraphs[0];
    const auto is = [&](const char* kind) { return IsBinary(*body.nodes().front(), kind, body.inputs()); };
    return body.nodes().size() == 1 && (is("add") || is("sub")) && q.OutDims(0) == q.InDims(1);
  }
  Status Prepare(PrepareContext& c) override {
    const float sign = c.subgraphs()[0]->nodes().front()->attrs.Text("kind") == "add" ? 1.f : -1.f;
    const Tensor* w = c.Weight(1);
    TERN_ASSIGN(packed_, c.Packed({1}, DType::kF32, w->dims(), [&](Tensor& to) {
      for (int64_t i = 0; i < to.size(); ++i) to.data<float>()[i] = sign * w->data<const float>()[i];
    }));
    return {};
  }
  Status Run(RunContext& c) override {
    for (int64_t i = 0; i < c.Out(0).size(); ++i)
      c.Out<float>(0)[i] = c.In<float>(0)[i] + packed_.data<const float>()[i];
    return {};
  }

 private:
  Tensor packed_;
};

// Returns options for a target with the kernels above and the CPU's kernels.
SessionOptions WithKernels() {
  static const Target* target = [] {
    auto* table = new KernelTable();
    table->Add<MulAdd>("Fused", "test.mul_add", MulAdd::Legal);
    table->Add<Doubling>("Loop", "test.doubling", Doubling::Legal);
    table->Add<ConstantIf>("If", "test.constant_if", [](const KernelQuery& q) {
      return q.OutputCount() == 1 && q.OutType(0) == DType::kF32;
    });
    table->Add<AddSigned>("Fused", "test.add_signed", AddSigned::Legal);
    return new CpuTarget(std::vector<const KernelTable*>{table, &CpuKernels()});
  }();
  SessionOptions options;
  options.target = target;
  return options;
}

std::vector<std::string> KernelsOf(const Session& session) {
  std::vector<std::string> names;
  for (const StepInfo& step : session.Steps()) {
    EXPECT_FALSE(step.dynamic) << step.kernel;
    names.push_back(step.kernel);
  }
  return names;
}

bool Runs(const Session& session, const std::string& kernel) {
  for (const StepInfo& step : session.Steps())
    if (step.kernel == kernel) return true;
  return false;
}

// `group` reads %p, %b and %c and writes %y.
std::string GraphWith(const std::string& group) {
  return "graph @g(%a: f32[N,4], %b: f32[N,4], %c: f32[N,4]) -> (%z) {\n  %p = Relu(%a)\n  " + group +
         "\n  %z = Relu(%y)\n}";
}

DatumList Rows(int64_t n) { return {Counting({n, 4}), Counting({n, 4}, 1), Counting({n, 4}, -9)}; }

constexpr char kMulAdd[] = R"(%y = Fused(%p, %b, %c) as "group" [
    body @f(%u: f32[N,4], %v: f32[N,4], %w: f32[N,4]) -> (%s) {
      %t = %u * %v
      %s = %t + %w
    }])";

TEST(Fused, RunsByItsKernelAsAStaticStep) {
  auto session = SessionOf(ParseOrDie(GraphWith(kMulAdd)), WithKernels());
  fused_ran = 0;
  for (int64_t n : {3, 5}) {
    ExpectLikeReference(*session, Rows(n));
    const std::vector<std::string> kernels = KernelsOf(*session);
    ASSERT_EQ(kernels.size(), 3u);
    EXPECT_EQ(kernels[1], "test.mul_add");
  }
  EXPECT_EQ(fused_ran, 4);
  EXPECT_EQ(session->PlansMade(), 2) << "the body has no plan";
  EXPECT_TRUE(session->Fallbacks().empty());
  EXPECT_EQ(session->Memory().dynamic_peak, 0u);
}

TEST(Fused, ARunByItsKernelAllocatesNothing) {
  auto session = SessionOf(ParseOrDie(GraphWith(kMulAdd)), WithKernels());
  const DatumList inputs = Rows(64);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->BindInput(i, inputs[static_cast<size_t>(i)]).ok());
  for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE(session->Run().ok());
  bool ok = true;
  const AllocationCounter counter;
  for (int i = 0; i < 100; ++i) ok &= session->Run().ok();
  EXPECT_EQ(counter.count(), 0);
  EXPECT_TRUE(ok);
}

class Names : public RunObserver {
 public:
  void OnStep(const StepEvent& event) override {
    if (event.node->op->name == "Fused") kernel = event.kernel;
  }
  std::string kernel;
};

TEST(Fused, ProfilesAndChoicesNameTheKernel) {
  SessionOptions options = WithKernels();
  options.explain = true;
  auto session = SessionOf(ParseOrDie(GraphWith(kMulAdd)), options);
  Names names;
  session->SetObserver(&names);
  ASSERT_TRUE(session->Run(Rows(3)).ok());
  EXPECT_EQ(names.kernel, "test.mul_add");
  bool found = false;
  for (const Choice& choice : session->Choices()) {
    if (choice.node->name != "group") continue;
    found = true;
    EXPECT_EQ(choice.kernel, "test.mul_add");
    ASSERT_EQ(choice.candidates.size(), 2u);
    EXPECT_TRUE(choice.candidates[0].legal);
    EXPECT_FALSE(choice.candidates[1].legal);
  }
  EXPECT_TRUE(found);
}

TEST(Fused, WithoutAKernelItIsInlined) {
  const auto flat = ParseOrDie(GraphWith("%t = %p * %b\n  %y = %t + %c"));
  auto plain = SessionOf(flat);
  ASSERT_TRUE(plain->Run(Rows(3)).ok());
  auto session = SessionOf(ParseOrDie(GraphWith(kMulAdd)));
  ExpectLikeReference(*session, Rows(3));
  EXPECT_EQ(KernelsOf(*session), KernelsOf(*plain));
  EXPECT_EQ(session->Memory().arena, plain->Memory().arena);
  EXPECT_EQ(session->PlansMade(), 1);
}

TEST(Fused, OtherBodiesAndCapturesAreInlined) {
  for (const char* group :
       {"%y = Fused(%p, %b, %c) [body @f(%u: f32[N,4], %v: f32[N,4], %w: f32[N,4]) -> (%s) {"
        " %t = %u * %v  %s = %t - %w }]",
        "%y = Fused(%p, %b) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%s) { %t = %u * %v  %s = %t + %c }]",
        "#k: f32[] = (3)\n"
        "%y = Fused(%p, %b) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%s) { %t = %u * %v  %s = %t + #k }]",
        "%y = Fused(%p) [body @f(%u: f32[N,4]) -> (%u) { }]",
        "%y, %x = Fused(%p, %p) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%t, %t) { %t = %u - %v }]",
        "%y = Fused(%p, %b) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%s) {"
        " %s = Fused(%v, %u) [body @h(%k: f32[N,4], %l: f32[N,4]) -> (%m) { %m = %k - %l }] }]"}) {
    SCOPED_TRACE(group);
    auto session = SessionOf(ParseOrDie(GraphWith(group)), WithKernels());
    fused_ran = 0;
    for (int64_t n : {3, 5}) ExpectLikeReference(*session, Rows(n));
    EXPECT_EQ(fused_ran, 0);
    for (const std::string& kernel : KernelsOf(*session)) EXPECT_EQ(kernel.rfind("cpu.", 0), 0u) << kernel;
    EXPECT_EQ(session->PlansMade(), 2);
  }
}

TEST(Fused, AGroupInAGroupCanHaveTheKernel) {
  const std::string group =
      R"(%y = Fused(%p, %b, %c) [body @o(%u: f32[N,4], %v: f32[N,4], %w: f32[N,4]) -> (%r) {
      %q = Relu(%u)
      %r = Fused(%q, %v, %w) [body @f(%k: f32[N,4], %l: f32[N,4], %m: f32[N,4]) -> (%s) { %t = %k * %l  %s = %t + %m }]
    }])";
  auto session = SessionOf(ParseOrDie(GraphWith(group)), WithKernels());
  ExpectLikeReference(*session, Rows(3));
  EXPECT_TRUE(Runs(*session, "test.mul_add"));
}

TEST(Fused, OfDynamicShapeIsInlined) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N]) -> (%y) {
    %found = NonZero(%x)
    %f = Cast(%found) {to=f32}
    %y = Fused(%f, %f, %f) [body @f(%u: f32[1,?], %v: f32[1,?], %w: f32[1,?]) -> (%s) {
      %t = %u * %v
      %s = %t + %w
    }]
  })"),
                           WithKernels());
  fused_ran = 0;
  for (double from : {-2, 0, 4}) ExpectLikeReference(*session, {Counting({6}, from)});
  EXPECT_EQ(fused_ran, 0);
  EXPECT_EQ(session->PlansMade(), 1);
}

TEST(Fused, OneThatDependsOnTheLengthOfAStateIsInlined) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[1,2], %past: f32[P,2]) -> (%y, %z, %present) {
    state %past -> %present {axis=0}
    %present = Concat(%past, %x) {axis=0}
    %y = Fused(%present, %present, %present) [body @f(%u: f32[Q,2], %v: f32[Q,2], %w: f32[Q,2]) -> (%s) {
      %t = %u * %v
      %s = %t + %w
    }]
    %z = Fused(%x, %x, %x) [body @h(%u: f32[1,2], %v: f32[1,2], %w: f32[1,2]) -> (%s) {
      %t = %u * %v
      %s = %t + %w
    }]
  })"),
                           WithKernels());
  std::vector<double> want;
  for (int run = 1; run <= 20; ++run) {
    ASSERT_TRUE(session->BindInput(0, Tensor::Of(DType::kF32, {1, 2}, {double(run), 2})).ok());
    ASSERT_TRUE(session->Run().ok());
    want.push_back(run * run + run);
    want.push_back(6);
    EXPECT_EQ(ToDoubles(session->Output(0).tensor), want);
    EXPECT_EQ(ToDoubles(session->Output(1).tensor), (std::vector<double>{want.end() - 2, want.end()}));
  }
  EXPECT_LE(session->PlansMade(), 3) << "a plan serves many lengths";
  int by_kernel = 0;
  for (const StepInfo& step : session->Steps()) by_kernel += step.kernel == "test.mul_add";
  EXPECT_EQ(by_kernel, 1);
}

TEST(SubgraphKernel, OfALoop) {
  auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[4]) -> (%z) {
    #go: bool[] = (true)
    %y = Loop(%n, #go, %x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %t) { %t = %s + %s }]
    %z = Relu(%y)
  })"),
                           WithKernels());
  for (double n : {3, 0, 5}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kI64, n), Counting({4})});
  EXPECT_EQ(KernelsOf(*session)[0], "test.doubling");
  EXPECT_EQ(session->PlansMade(), 1);
}

TEST(SubgraphKernel, NotOfALoopWithOpenDimsOrCaptures) {
  for (
      const char* loop :
      {"%y, %all = Loop(%n, #go, %x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %t, %t) { %t = %s + %s }]",
       "%y = Loop(%n, #go, %x) [body @b(%i: i64[], %c: bool[], %s: f32[4]) -> (%c, %t) { %t = %s + %x }]",
       "%y = Loop(%n, #go, %x) [body @b(%i: i64[], %c: bool[], %s: f32[?]) -> (%c, %t) {"
       " %t = Concat(%s, %s) {axis=0} }]"}) {
    SCOPED_TRACE(loop);
    auto session =
        SessionOf(ParseOrDie(StrCat("graph @g(%n: i64[], %x: f32[4]) -> (%y) {\n  #go: bool[] = (true)\n  ",
                                    loop, "\n}")),
                  WithKernels());
    for (double n : {3, 0}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kI64, n), Counting({4})});
    EXPECT_TRUE(Runs(*session, "control flow"));
  }
}

TEST(SubgraphKernel, OfAnIf) {
  const std::string then = "then @t() -> (%a) { #p: f32[2] = (1, 2)  %a = Relu(#p) }";
  for (const auto& [other, kernel] : {std::pair("(-1, 7)", true), std::pair("(-1, 7, 9)", false)}) {
    const std::string dims = kernel ? "2" : "3";
    auto session = SessionOf(
        ParseOrDie(StrCat("graph @g(%c: bool[]) -> (%y) {\n  %y = If(%c) [", then,
                          " else @e() -> (%b) { #q: f32[", dims, "] = ", other, "  %b = Relu(#q) }]\n}")),
        WithKernels());
    for (double c : {1, 0}) ExpectLikeReference(*session, {Tensor::Scalar(DType::kBool, c)});
    EXPECT_EQ(session->Steps()[0].kernel, kernel ? "test.constant_if" : "control flow");
  }
}

// Returns a graph with two groups that read the same weight w: x + w and x - w.
std::shared_ptr<Graph> Signed() {
  InitOps();
  auto graph = ParseGraph(R"(graph @g(%x: f32[N,4096], %w: f32[1,4096]) -> (%y, %z) {
    %y = Fused(%x, %w) [body @f(%u: f32[N,4096], %v: f32[1,4096]) -> (%s) { %s = %u + %v }]
    %z = Fused(%x, %w) [body @f(%u: f32[N,4096], %v: f32[1,4096]) -> (%s) { %s = %u - %v }]
  })");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  (*graph)->InputToConstant((*graph)->inputs()[1], Counting({1, 4096}));
  return std::move(*graph);
}

TEST(Fused, DifferentBodiesShareNoPack) {
  for (const Level level : {Level::kNone, Level::kLayout}) {
    SessionOptions options = WithKernels();
    options.level = level;
    const std::shared_ptr<Graph> graph = Signed();
    auto session = SessionOf(graph, options);
    for (int64_t n : {1, 2, 1, 3}) {  // the kernel is legal only for n = 1, so the weight must stay in memory
      const Tensor x = Counting({n, 4096}, 5);
      const auto want = EvaluateGraph(*graph, {x}), got = session->Run({x});
      ASSERT_TRUE(want.ok() && got.ok()) << want.status().ToString() << got.status().ToString();
      for (size_t i = 0; i < 2; ++i)
        EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor)) << "output " << i << ", rows " << n;
      EXPECT_EQ(Runs(*session, "test.add_signed"), n == 1);
    }
    EXPECT_EQ(session->PackedWeights().size(), 2u);
  }
}

TEST(Fused, BodiesArePartOfMeasurementKeys) {
  InitOps();
  const auto body = [](const std::string& text) {
    return ParseOrDie(
        GraphWith("%y = Fused(%p, %b) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%s) {" + text + "}]"));
  };
  const auto key = [](const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (node->op->name != "Fused") continue;
      KernelQuery query(*node->op, node->attrs);
      query.subgraphs = {node->subgraphs()[0].get()};
      return NodeKey(query, 1);
    }
    return std::string();
  };
  const std::string add = key(*body("%s = %u + %v"));
  EXPECT_EQ(add,
            key(*ParseOrDie(GraphWith("%y = Fused(%p, %b) as \"other\" "
                                      "[body @k(%m: f32[N,4], %n: f32[N,4]) -> (%o) { %o = %m + %n }]"))));
  for (const char* other : {"%s = %u - %v", "%s = %v + %u", "%t = %u + %v  %s = Relu(%t)",
                            "#k: f32[] = (1)  %s = %u + #k", "#k: f32[] = (2)  %s = %u + #k"})
    EXPECT_NE(add, key(*body(other))) << other;
  EXPECT_NE(key(*body("#k: f32[] = (1)  %s = %u + #k")), key(*body("#k: f32[] = (2)  %s = %u + #k")));
}

TEST(Fused, ThroughTextAndFile) {
  const auto graph = ParseOrDie(GraphWith(kMulAdd));
  EXPECT_TRUE(SameGraph(*ParseOrDie(PrintGraphExactly(*graph)), *graph));
  const auto bytes = SaveTernBytes(*graph);
  ASSERT_TRUE(bytes.ok());
  auto loaded = LoadTernBytes(Buffer::Borrow(const_cast<char*>(bytes->data()), bytes->size(), nullptr));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_TRUE(SameGraph(**loaded, *graph));
}

TEST(Fused, ErrorsNameTheCounts) {
  InitOps();
  const auto error = [](const std::string& group) { return ParseGraph(GraphWith(group)).status().message(); };
  EXPECT_NE(error("%y = Fused(%p) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%u) { }]")
                .find("its graph 'f' takes 2 inputs, but is given 1"),
            std::string::npos);
  EXPECT_NE(error("%y, %x = Fused(%p) [body @f(%u: f32[N,4]) -> (%u) { }]")
                .find("the body gives 1 outputs, but the node has 2"),
            std::string::npos);
  EXPECT_NE(error("%y = Fused(%p, _) [body @f(%u: f32[N,4], %v: f32[N,4]) -> (%u) { }]")
                .find("input 1 is missing, but the body needs it"),
            std::string::npos);
}

}  // namespace
}  // namespace tern
