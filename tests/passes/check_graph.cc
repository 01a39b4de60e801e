#include "check_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "equal_graphs.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "outcome.h"
#include "passes/pipeline.h"
#include "random.h"
#include "runtime/exec/session.h"

namespace tern {
namespace {

using Sizes = std::map<std::string, int64_t>;

std::set<std::string> SymbolsOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* v : graph.inputs())
    for (const Dim& d : v->type.shape.dims) d.CollectSymbols(names);
  return {names.begin(), names.end()};
}

// Returns several sets of sizes for the symbols: the given sizes, random sizes, and random sizes with many 1s
// or many 0s.
std::vector<Sizes> SizesToTry(const Graph& graph, const CheckOptions& options) {
  std::vector<Sizes> all = {options.symbols};
  const auto symbols = SymbolsOf(graph);
  if (symbols.empty()) return all;
  Random random(options.seed);
  for (const std::vector<int64_t>& choice :
       std::vector<std::vector<int64_t>>{{2, 4, 5, 6}, {1, 1, 2}, {0, 0, 1, 3}}) {
    Sizes sizes;
    for (const std::string& name : symbols) sizes[name] = random.Pick(choice);
    all.push_back(sizes);
  }
  return all;
}

// Replaces random elements of the float inputs by NaN, an infinity or -0.
DatumList WithOddNumbers(DatumList inputs) {
  static const std::vector<double> kOdd = {std::numeric_limits<double>::quiet_NaN(), INFINITY, -INFINITY,
                                           -0.0};
  Random random(5);
  for (Datum& d : inputs)
    for (int64_t i = 0; IsFloat(d.tensor.dtype()) && i < d.tensor.size(); ++i)
      if (random.Chance(0.15)) StoreDouble(d.tensor, i, random.Pick(kOdd));
  return inputs;
}

struct Wanted {
  std::vector<Outcome> plain;
  std::string broken;        // why the graph's declared types are wrong; empty if they are right
  std::vector<Outcome> odd;  // outcomes for inputs that contain infinities and NaNs
};

// Returns whether `v` is the target shape of a Reshape and its value `t` contains a 0. A 0 copies a dim of
// the Reshape's input. If a node computes the target shape, inference does not know that it contains a 0, so
// that the inferred dims are wrong.
bool MeansCopy(const Value& v, const Tensor& t) {
  const auto target = [](const auto& use) {
    return use.first->op->name == std::string("Reshape") && use.second == 1;
  };
  if (!IsInt(t.dtype()) || !std::any_of(v.uses.begin(), v.uses.end(), target)) return false;
  const auto sizes = ToLongs(t);
  return std::count(sizes.begin(), sizes.end(), 0) > 0;
}

struct Types {
  bool copies = false;  // whether MeansCopy is true for a value
  std::string broken;   // a message about the first value whose dims differ from the inferred dims
};

Types CheckTypes(const Graph& graph, const Sizes& sizes, const DatumList& inputs) {
  Types types;
  SymbolValues symbols = sizes;
  for (const std::string& name : SymbolsOf(graph)) symbols.emplace(name, 3);
  const auto look = [&](const Node& node, const DatumList& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Shape& shape = node.outputs()[i]->type.shape;
      if (!outputs[i].is_tensor() || !shape.ranked || !types.broken.empty()) continue;
      const Tensor& t = outputs[i].tensor;
      types.copies |= MeansCopy(*node.outputs()[i], t);
      bool holds = shape.rank() == t.rank();
      for (int k = 0; holds && k < shape.rank(); ++k)
        holds = shape[k].Evaluate(symbols).value_or(t.dim(k)) == t.dim(k);
      if (!holds)
        types.broken = StrCat(node.Describe(), " returns ", t.Describe(), ", but the inferred shape is ",
                              shape.ToString());
    }
  };
  (void)Guard([&] { return EvaluateGraph(graph, inputs, look); });
  return types;
}

// Appends the outcome of the graph to `into`. Appends nothing if the graph cannot run with these sizes, or if
// MeansCopy is true for a value.
void Run(const Graph& graph, const Sizes& sizes, const DatumList& inputs, Wanted& wanted,
         std::vector<Outcome>& into) {
  const Types types = CheckTypes(graph, sizes, inputs);
  if (types.copies) return;
  if (!types.broken.empty()) wanted.broken = "types: " + types.broken;
  if (auto outcome = OutcomeOf(graph, inputs); outcome.ok()) into.push_back(std::move(*outcome));
}

Wanted Before(const Graph& graph, const CheckOptions& options) {
  Wanted wanted;
  for (const Sizes& sizes : SizesToTry(graph, options))
    Run(graph, sizes, RandomInputs(graph, sizes, options.seed), wanted, wanted.plain);
  DatumList odd = WithOddNumbers(RandomInputs(graph, options.symbols, options.seed));
  Run(graph, options.symbols, odd, wanted, wanted.odd);
  return wanted;
}

std::string SameOutputs(const Graph& before, const Graph& after) {
  if (before.outputs().size() != after.outputs().size()) return "the number of outputs changed";
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const Value &a = *before.outputs()[i], &b = *after.outputs()[i];
    if (a.name != b.name) return StrCat("output '", a.name, "' is now called '", b.name, "'");
    if (a.type.dtype != b.type.dtype || (a.type.shape.ranked && a.type.shape.rank() != b.type.shape.rank()))
      return StrCat("the type of output '", a.name, "' was ", a.type.ToString(), ", is ", b.type.ToString());
    for (int k = 0; a.type.shape.ranked && k < a.type.shape.rank(); ++k)
      if (a.type.shape[k].known() && a.type.shape[k] != b.type.shape[k])
        return StrCat("the type of output '", a.name, "' was ", a.type.ToString(), ", is ",
                      b.type.ToString());
  }
  return "";
}

std::string SameResults(const Graph& after, const std::vector<Outcome>& wanted, const char* data,
                        const Strictness& strict) {
  for (const Outcome& outcome : wanted) {
    auto got = Guard([&] { return EvaluateGraph(after, outcome.inputs); });
    std::string error = got.ok() ? Differs(after, outcome, *got, strict) : got.status().ToString();
    if (error.empty()) continue;
    std::string inputs;
    for (const Datum& d : outcome.inputs) inputs += " " + d.Describe();
    return StrCat("results on ", data, inputs, ": ", error);
  }
  return "";
}

std::string SameKernels(const Graph& after, const std::vector<Outcome>& wanted, const Strictness& strict) {
  auto session = Session::Create(std::shared_ptr<const Graph>(after.Clone()), {.threads = 1});
  if (!session.ok()) return "session: " + session.status().ToString();
  for (const Outcome& outcome : wanted) {
    auto got = (*session)->Run(outcome.inputs);
    const std::string error = got.ok() ? Differs(after, outcome, *got, strict) : got.status().ToString();
    if (!error.empty()) return "kernels: " + error;
  }
  return "";
}

// Returns a copy in which every node has a name. Some nodes have the same name.
std::unique_ptr<Graph> NamedCopy(const Graph& graph) {
  auto copy = graph.Clone();
  int number = 0;
  std::function<void(Graph&)> name = [&](Graph& g) {
    for (const auto& node : g.nodes()) {
      node->name = StrCat("node_", number % 5 == 4 ? number - 1 : number);
      ++number;
      for (const auto& body : node->subgraphs()) name(*body);
    }
  };
  name(*copy);
  return copy;
}

std::string UniqueNames(const Graph& graph, std::set<std::string>& names) {
  for (const auto& node : graph.nodes()) {
    if (!node->name.empty() && !names.insert(node->name).second)
      return StrCat("two nodes are called '", node->name, "'");
    for (const auto& body : node->subgraphs())
      if (auto error = UniqueNames(*body, names); !error.empty()) return error;
  }
  return "";
}

// Optimizes the graph. Checks that the result is valid, deterministic and does not change when it is
// optimized again.
std::string Optimized(const Graph& graph, const OptimizeOptions& options, std::unique_ptr<Graph>& after,
                      std::vector<std::string>& fired) {
  after = NamedCopy(graph);
  auto report = Optimize(*after, options);
  if (!report.ok()) return report.status().ToString();
  for (const auto& [name, hits] : report->hits) fired.push_back(name);
  if (!report->warnings.empty()) return report->warnings[0];
  if (Status sound = VerifyGraph(*after); !sound.ok()) return sound.ToString();
  std::set<std::string> names;
  if (auto error = UniqueNames(*after, names); !error.empty()) return error;
  const std::string text = PrintGraphExactly(*after);
  auto twin = NamedCopy(graph);
  if (!Optimize(*twin, options).ok() || PrintGraphExactly(*twin) != text)
    return "not deterministic: two runs differ";
  auto again = after->Clone();
  auto second = Optimize(*again, options);
  if (!second.ok()) return second.status().ToString();
  if (!second->hits.empty()) {
    std::string names;
    for (const auto& [name, hits] : second->hits) names += StrCat(" ", name);
    return StrCat("not idempotent: a second run fires", names);
  }
  if (PrintGraphExactly(*again) != text) return "not idempotent: a second run changes the text";
  if (Status inferred = InferGraph(*again); !inferred.ok()) return "types: " + inferred.ToString();
  return "";
}

std::string CheckLevel(const Graph& graph, const Wanted& wanted, const OptimizeOptions& options,
                       std::string& last, std::vector<std::string>& fired) {
  std::unique_ptr<Graph> after;
  if (auto error = Optimized(graph, options, after, fired); !error.empty()) return error;
  if (auto error = SameOutputs(graph, *after); !error.empty()) return error;
  const std::string text = PrintGraphExactly(*after);
  if (text == last) return "";
  last = text;
  const Strictness strict{.infinities = options.level == Level::kBasic,
                          .halves = options.level != Level::kLayout};
  if (auto error = SameResults(*after, wanted.plain, "finite inputs", strict); !error.empty()) return error;
  if (options.level == Level::kBasic) {
    auto error = SameResults(*after, wanted.odd, "inputs with infinities and NaNs", strict);
    if (!error.empty()) return error;
  }
  // Kernels need not distinguish infinities and NaNs at any level.
  return SameKernels(*after, wanted.plain, {.infinities = false, .halves = strict.halves});
}

}  // namespace

Fault CheckGraph(const Graph& graph, const CheckOptions& options, int* runs) {
  const Wanted wanted = Before(graph, options);
  if (runs) *runs = static_cast<int>(wanted.plain.size() + wanted.odd.size());
  Fault fault;
  fault.what = wanted.broken;
  if (fault) return fault;
  std::string last;
  for (Level level : {Level::kBasic, Level::kExtended, Level::kLayout}) {
    OptimizeOptions optimize;
    optimize.level = fault.level = level;
    optimize.disable = options.disable;
    optimize.eager =
        level == Level::kLayout;  // without `eager`, layout changes need larger graphs to be profitable
    fault.what = CheckLevel(graph, wanted, optimize, last, fault.fired);
    if (fault) break;
  }
  std::sort(fault.fired.begin(), fault.fired.end());
  fault.fired.erase(std::unique(fault.fired.begin(), fault.fired.end()), fault.fired.end());
  return fault;
}

std::vector<std::string> Culprits(const Graph& graph, const CheckOptions& options, const Fault& fault) {
  std::vector<std::string> culprits;
  for (const std::string& name : fault.fired) {
    CheckOptions without = options;
    without.disable.push_back(name);
    const Fault left = CheckGraph(graph, without);
    if (!left || left.level > fault.level) culprits.push_back(name);
  }
  return culprits;
}

}  // namespace tern
