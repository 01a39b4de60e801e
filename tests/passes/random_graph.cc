#include "random_graph.h"

#include <algorithm>

#include "equal_graphs.h"
#include "grow.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tern {
namespace {

Dim AnyDim(Random& random) {
  static const std::vector<int64_t> kSizes = {1, 2, 3, 4, 4, 6};
  if (random.Chance(0.35)) return Dim::Symbol(random.Chance(0.6) ? "N" : "S");
  return random.Pick(kSizes);
}

// Returns a graph that has only inputs. They have the shapes of typical layers, and some have equal shapes.
std::unique_ptr<Graph> OnlyInputs(Random& random) {
  auto graph = std::make_unique<Graph>();
  std::vector<Dim> dims;
  for (int i = random.Between(2, 4); i > 0; --i) dims.push_back(AnyDim(random));
  if (random.Chance(0.7)) dims.back() = 4;
  if (dims.size() == 4 && random.Chance(0.7)) dims[1] = random.Between(1, 3);
  const int count = random.Between(1, 3);
  for (int i = 0; i < count; ++i) {
    if (i && random.Chance(0.3)) dims[0] = AnyDim(random);
    if (i && random.Chance(0.3) && dims.size() > 2) dims.erase(dims.begin());
    graph->AddInput(StrCat("x", i), Type::TensorOf(DType::kF32, Shape(dims)));
  }
  return graph;
}

// The maximum number of elements of a value. With this limit, the product of two values fits into memory.
constexpr int64_t kMaxElements = 1 << 14;

void LimitSize(const Node&, const DatumList& outputs) {
  for (const Datum& d : outputs)
    if (d.is_tensor() && d.tensor.size() > kMaxElements) throw std::length_error("too many elements");
}

bool Runs(const Graph& graph, const std::map<std::string, int64_t>& symbols) {
  return Guard([&] { return EvaluateGraph(graph, RandomInputs(graph, symbols, 1), LimitSize); }).ok();
}

// Returns the graph of `seed`, which comes from a .rule file, after up to three random changes. Skips changes
// after which the graph is invalid or does not run. Returns null if the graph of `seed` does not run.
std::unique_ptr<Graph> Changed(const SeedGraph& seed, Random& random) {
  auto parsed = ParseGraph(seed.text);
  if (!parsed.ok() || !InferGraph(**parsed).ok() || !Runs(**parsed, seed.symbols)) return nullptr;
  auto graph = std::move(*parsed);
  for (int i = random.Below(4); i > 0; --i) {
    auto next = graph->Clone();
    MutateGraph(*next, random);
    if (InferGraph(*next).ok() && VerifyGraph(*next).ok() && Runs(*next, seed.symbols))
      graph = std::move(next);
  }
  return graph;
}

void ChooseOutputs(Graph& graph, const Grower& grower, Random& random) {
  auto outputs = graph.outputs();
  for (Value* v : grower.Leaves()) outputs.push_back(v);
  for (const auto& node : graph.nodes())
    if (random.Chance(0.06) && node->output(0)->type.tensor()) outputs.push_back(node->output(0));
  std::vector<Value*> once;
  for (Value* v : outputs)
    if (std::find(once.begin(), once.end(), v) == once.end()) once.push_back(v);
  if (once.empty()) {
    Builder builder(graph);
    once.push_back(builder.Op("Identity", {graph.inputs()[0]}));
  }
  for (size_t i = 0; i < once.size(); ++i)
    if (once[i]->name.empty()) once[i]->name = StrCat("out", i);
  graph.SetOutputs(once);
}

}  // namespace

RandomGraph MakeRandomGraph(uint64_t seed, const std::vector<SeedGraph>& seeds) {
  Random random(seed);
  RandomGraph made;
  if (!seeds.empty() && random.Chance(0.5)) {
    const SeedGraph& from = random.Pick(seeds);
    made.graph = Changed(from, random);
    made.symbols = from.symbols;
  }
  const bool fresh = !made.graph;
  if (fresh) made.graph = OnlyInputs(random);
  Grower grower(*made.graph, random, RandomInputs(*made.graph, made.symbols, 1));
  grower.Grow(fresh ? random.Between(3, 14) : random.Below(5));
  made.graph->RemoveUnusedConstants();
  ChooseOutputs(*made.graph, grower, random);
  return made;
}

}  // namespace tern
