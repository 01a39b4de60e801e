// Tests that weights are released once all kernels that read them have packed them.
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "ir/tern_file.h"
#include "runtime/model/packs.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// The products y = relu(x·w)·w pack w. The sum z = q + v does not pack v.
std::shared_ptr<const Graph> TwoProducts() {
  InitOps();
  auto graph =
      ParseGraph(R"(graph @g(%x: f32[N,64], %q: f32[200,64], %w: f32[64,64], %v: f32[200,64]) -> (%y, %z) {
  %h = Relu(MatMul(%x, %w))
  %y = MatMul(%h, %w)
  %z = %q + %v
})");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  const std::vector<Value*> inputs = (*graph)->inputs();
  (*graph)->InputToConstant(inputs[2], Counting({64, 64}, -2000));
  (*graph)->InputToConstant(inputs[3], Counting({200, 64}, -5000));
  return std::move(*graph);
}

const Value* Named(const Graph& graph, const std::string& name) {
  for (const auto& v : graph.values())
    if (v->name == name) return v.get();
  return nullptr;
}

TEST(ReleaseWeights, ResultsAndGraphsStayTheSame) {
  const auto graph = TwoProducts();
  SessionOptions options;
  options.level = Level::kExtended;
  auto session = SessionOf(graph, options);
  const Tensor q = Counting({200, 64});
  for (int64_t n : {3, 40, 1}) {
    auto want = EvaluateGraph(*graph, {Counting({n, 64}), q});
    auto got = session->Run(DatumList{Counting({n, 64}), q});
    ASSERT_TRUE(want.ok() && got.ok()) << got.status().ToString();
    for (size_t i = 0; i < 2; ++i) {
      const auto a = ToDoubles((*got)[i].tensor), b = ToDoubles((*want)[i].tensor);
      for (size_t j = 0; j < a.size(); ++j)
        ASSERT_NEAR(a[j], b[j], 1e-4 * std::abs(b[j]) + 1e3) << i << " " << j;
    }
  }
  for (const char* name : {"w", "v"}) {
    ASSERT_NE(Named(session->graph(), name), nullptr);
    EXPECT_EQ(Named(session->graph(), name)->constant.dims(), Named(*graph, name)->constant.dims());
    EXPECT_EQ(Named(session->graph(), name)->constant.raw(), nullptr)
        << "the session's graph has no data from the start";
    EXPECT_NE(Named(*graph, name)->constant.raw(), nullptr) << "the caller's graph is unchanged";
  }
}

TEST(ReleaseWeights, MemoryIsFreed) {
  std::unique_ptr<Graph> graph = TwoProducts()->Clone();
  std::map<std::string, std::weak_ptr<const void>> owners;
  for (const auto& v : graph->values()) {
    if (!v->is_constant()) continue;
    auto owner = std::make_shared<Tensor>(v->constant.Clone());
    owners[v->name] = owner;
    v->constant.SetBuffer(Buffer::Borrow(owner->raw(), owner->bytes(), owner));
  }
  SessionOptions options;
  options.level = Level::kExtended;
  auto session = SessionOf(std::shared_ptr<const Graph>(std::move(graph)), options);
  EXPECT_FALSE(owners.at("w").expired());
  ASSERT_TRUE(session->Run(DatumList{Counting({3, 64}), Counting({200, 64})}).ok());
  EXPECT_TRUE(owners.at("w").expired());
  EXPECT_FALSE(owners.at("v").expired());
}

// For N = 5000, %x is too large to fold, and the product packs and releases w. For N = 2, the plan folds %x,
// but must not fold the product, which reads the released w.
TEST(ReleaseWeights, ReleasedWeightsAreNotFolded) {
  std::unique_ptr<Graph> graph = ParseOrDie(R"(graph @g(%n: f32[N], %w: f32[64,64]) -> (%y) {
    #k: i64[1] = (64)
    %s = Concat(Shape(%n), #k) {axis=0}
    %x = Fill(%s) {value=f32[] (1.0)}
    %y = MatMul(%x, %w)
  })")
                                     ->Clone();
  graph->InputToConstant(graph->inputs()[1], Counting({64, 64}, -2000));
  SessionOptions options;
  options.level = Level::kExtended;
  auto session = SessionOf(std::shared_ptr<const Graph>(graph->Clone()), options);
  for (int64_t n : {5000, 2}) {
    auto want = EvaluateGraph(*graph, {Counting({n})});
    auto got = session->Run(DatumList{Counting({n})});
    ASSERT_TRUE(want.ok() && got.ok()) << got.status().ToString();
    EXPECT_TRUE(SameTensor((*got)[0].tensor, (*want)[0].tensor)) << n;
  }
}

// The first run releases the weights. Runs with other dims and ranks must then use kernels with the same pack
// layout.
TEST(ReleaseWeights, ProductsRunWithOtherDims) {
  for (const char* attrs : {"{transpose_a=true}", "{transpose_a=true, transpose_b=true, alpha=0.5}", "{}"}) {
    for (const char* w : {"f32[64,64]", "f32[1,64,64]"}) {
      std::unique_ptr<Graph> graph =
          ParseOrDie(StrCat("graph @g(%x: f32[*], %w: ", w, ") -> (%y) { %y = MatMul(%x, %w) ", attrs, " }"))
              ->Clone();
      Value* weight = graph->inputs()[1];
      graph->InputToConstant(weight, Counting(weight->type.shape.Concrete(), -2000));
      SessionOptions options;
      options.level = Level::kExtended;
      auto session = SessionOf(std::shared_ptr<const Graph>(graph->Clone()), options);
      for (const Dims& dims :
           {Dims{64, 64}, Dims{3, 64, 64}, Dims{2, 0, 64, 64}, Dims{1, 64, 64}, Dims{64}}) {
        auto want = EvaluateGraph(*graph, {Counting(dims, -3)});
        auto got = session->Run(DatumList{Counting(dims, -3)});
        ASSERT_TRUE(want.ok() && got.ok()) << attrs << w << Join(dims, ",") << got.status().ToString();
        ASSERT_EQ((*got)[0].tensor.dims(), (*want)[0].tensor.dims());
        const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*want)[0].tensor);
        for (size_t j = 0; j < a.size(); ++j)
          ASSERT_NEAR(a[j], b[j], 1e-4 * std::abs(b[j]) + 1e3) << attrs << j;
      }
    }
  }
}

TEST(ReleaseWeights, ClonesCompileAtTheSameTime) {
  SessionOptions options;
  options.level = Level::kExtended;
  auto session = SessionOf(TwoProducts(), options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, clone = std::shared_ptr<Session>(session->Clone())] {
      for (int64_t n = 1; n < 6; ++n) {
        auto got = clone->Run(DatumList{Counting({n, 64}), Counting({200, 64})});
        EXPECT_TRUE(got.ok()) << got.status().ToString();
      }
    });
  for (auto& t : threads) t.join();
}

// A session that gets the only pointer to a graph optimizes the graph in place and copies no weights.
TEST(OwnGraph, IsOptimizedInPlaceByItsSoleOwner) {
  SessionOptions options;
  options.level = Level::kExtended;
  auto given = TwoProducts();
  const Graph* address = given.get();
  auto session = Session::Create(std::move(given), options);
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(&(*session)->graph(), address);
  const auto shared = TwoProducts();
  const auto nodes = shared->NodeCount();
  auto other = Session::Create(shared, options);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(&(*other)->graph(), shared.get());
  EXPECT_EQ(shared->NodeCount(), nodes);
}

TEST(ClonedSessions, HoldOneCopyOfTheWeights) {
  SessionOptions options;
  options.level = Level::kExtended;
  auto session = SessionOf(TwoProducts(), options);
  const DatumList inputs{Counting({5, 64}), Counting({200, 64})};
  ASSERT_TRUE(session->Run(inputs).ok());
  const size_t packed = session->Memory().packed;
  ASSERT_GT(packed, 0u);
  auto clone = session->Clone();
  ASSERT_TRUE(clone->Run(inputs).ok());
  ASSERT_TRUE(clone->Run(DatumList{Counting({9, 64}), Counting({200, 64})}).ok());  // another plan
  EXPECT_EQ(clone->Memory().packed, packed);
  EXPECT_EQ(session->Memory().packed, packed);
  const Packs mine = session->PackedWeights(), theirs = clone->PackedWeights();
  ASSERT_EQ(mine.size(), theirs.size());
  for (const auto& [name, tensor] : mine) EXPECT_EQ(tensor.data.raw(), theirs.at(name).data.raw()) << name;
  EXPECT_EQ(&session->graph(), &clone->graph());
}

// Packed weights are saved to a file. A session of the loaded model uses them and packs nothing again.
TEST(Packs, AreSavedWithTheGraph) {
  const auto graph = TwoProducts();
  SessionOptions options;
  options.level = Level::kLayout;
  const DatumList inputs{Counting({5, 64}), Counting({200, 64})};
  auto first = SessionOf(graph, options);
  auto want = first->Run(inputs);
  ASSERT_TRUE(want.ok());
  ASSERT_GT(first->Memory().packed, 0u);
  std::unique_ptr<Graph> copy = graph->Clone();
  EXPECT_EQ(SetPacks(*copy, first->PackedWeights()), 1) << "one pack serves both products";
  auto bytes = SaveTernBytes(*copy);
  ASSERT_TRUE(bytes.ok());
  auto loaded = LoadTernBytes(Buffer::Borrow(bytes->data(), bytes->size(), nullptr));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(PacksOf(**loaded).size(), first->PackedWeights().size());
  auto second = SessionOf(std::shared_ptr<const Graph>(std::move(*loaded)), options);
  auto got = second->Run(inputs);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(second->Memory().packed, 0u);
  for (size_t i = 0; i < want->size(); ++i) EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor));
}

TEST(Packs, EveryConstantGetsAUniqueName) {
  std::unique_ptr<Graph> graph = TwoProducts()->Clone();
  for (const auto& v : graph->values())
    if (v->is_constant()) v->name = v->name == "w" ? "" : "x";  // x is an input
  NameConstants(*graph);
  std::set<std::string> names;
  for (const auto& v : graph->values())
    if (v->is_constant() && (v->name.empty() || v->name == "x" || !names.insert(v->name).second))
      ADD_FAILURE() << "'" << v->name << "'";
  EXPECT_EQ(names.size(), 2u);
}

// A stored pack can have other dims than the kernel expects, for example if another version stored it. Then
// the weight is packed again.
TEST(Packs, WithOtherDimsAreIgnored) {
  const auto graph = TwoProducts();
  SessionOptions options;
  options.level = Level::kLayout;
  const DatumList inputs{Counting({5, 64}), Counting({200, 64})};
  auto first = SessionOf(graph, options);
  auto want = first->Run(inputs);
  ASSERT_TRUE(want.ok());
  Packs packs = first->PackedWeights();
  for (auto& [name, pack] : packs) pack.data = Counting({3});
  std::unique_ptr<Graph> copy = graph->Clone();
  SetPacks(*copy, packs);
  auto second = SessionOf(std::shared_ptr<const Graph>(std::move(copy)), options);
  auto got = second->Run(inputs);
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  for (size_t i = 0; i < want->size(); ++i) EXPECT_TRUE(SameTensor((*got)[i].tensor, (*want)[i].tensor));
}

}  // namespace
}  // namespace tern
