#include "tools/optimize_report.h"

#include <fmt/core.h>

#include <time.h>
#include <algorithm>

#include <cmath>

#include "data/json_writer.h"
#include "tools/cost_report.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/shapes.h"
#include "tools/timing.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr double kFlopsPerMs = 50e6;  // assumed speed, 50 GFLOP/s
constexpr double kBytesPerMs = 10e6;  // assumed bandwidth, 10 GB/s
constexpr double kNodeMs = 0.5e-3;    // assumed overhead of a kernel call, 0.5 us

void Count(const Graph& graph, std::map<std::string, int>& ops) {
  for (const auto& node : graph.nodes()) {
    ++ops[KindOf(*node)];
    for (const auto& sub : node->subgraphs()) Count(*sub, ops);
  }
}

// Adds up the changes of nodes and costs per rule. Charge must be called after each change of the graph.
class RuleLedger {
 public:
  explicit RuleLedger(const Graph& graph)
      : nested_(graph.NodeCount() > static_cast<int>(graph.nodes().size())), last_(Look(graph)) {}
  void Charge(const std::string& rule, const Graph& graph) {
    const Seen now = Look(graph);
    RuleFigures& figures = rules[rule];
    figures.nodes += now.nodes - last_.nodes;
    if (now.counted() && last_.counted()) {
      figures.flops += now.cost.flops - last_.cost.flops;
      figures.bytes += now.cost.bytes - last_.cost.bytes;
    }
    last_ = now;
  }
  std::map<std::string, RuleFigures> rules;

 private:
  struct Seen {
    int nodes = 0;
    Cost cost;
    bool counted() const { return nodes <= kCounted; }  // else the cost is not known
  };
  Seen Look(const Graph& graph) const {
    Seen seen{nested_ ? graph.NodeCount() : static_cast<int>(graph.nodes().size()), {}};
    if (seen.counted()) seen.cost = MakeCostReport(graph, {}).total;
    return seen;
  }
  // Counts costs only in graphs with at most this number of nodes. In a larger graph, a count after each
  // change would take longer than the optimization.
  static constexpr int kCounted = 1500;
  // True if the graph has nested graphs. If it has none, graph.nodes().size() is the number of nodes also
  // after each change, because no rule creates nested graphs.
  const bool nested_;
  Seen last_;
};

Result<DatumList> SampleFor(Graph& graph) {
  Feeds feeds;
  TERN_TRY(AddRandomFeeds(graph, 0, feeds));
  return OrderFeeds(graph, feeds);
}

Result<Engine> EngineFor(const Graph& graph) {
  std::unique_ptr<Graph> copy = graph.Clone();
  TERN_ASSIGN(const DatumList inputs, SampleFor(*copy));
  SessionOptions options;
  options.threads = 1;
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(copy), options));
  TERN_TRY(engine.Bind(inputs));
  TERN_TRY(engine.RunBound());
  return engine;
}

// Returns a copy of the graph with all open dims set to `size`. If the model does not accept the size, the
// copy keeps its open dims, and some layers are not counted.
std::unique_ptr<Graph> Closed(const Graph& graph, int64_t size) {
  std::unique_ptr<Graph> copy = graph.Clone();
  return FillOpenDims(*copy, size).ok() ? std::move(copy) : graph.Clone();
}

}  // namespace

double EstimateMs(const Cost& cost, int nodes) {
  return std::max(cost.flops / kFlopsPerMs, cost.bytes / kBytesPerMs) + nodes * kNodeMs;
}

std::map<std::string, int> CountOps(const Graph& graph) {
  std::map<std::string, int> ops;
  Count(graph, ops);
  return ops;
}

GraphFigures CountGraph(const Graph& closed) {
  const CostReport report = MakeCostReport(closed, {});
  GraphFigures figures;
  figures.nodes = closed.NodeCount();
  figures.cost = report.total;
  figures.uncounted = report.uncounted;
  for (const Layer& layer : report.layers)
    if (layer.cost) figures.estimated_ms += EstimateMs(*layer.cost, 1);
  return figures;
}

namespace {

// Returns the processor time that this process has used.
double ProcessMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

Status MeasureBoth(const Graph& before, const Graph& after, double seconds, OptimizeFigures& figures) {
  TERN_ASSIGN(Engine first, EngineFor(before));
  TERN_ASSIGN(Engine second, EngineFor(after));
  figures.before.measured_ms = figures.after.measured_ms = HUGE_VAL;
  const Stopwatch all;
  do {
    for (auto* side : {&figures.before, &figures.after}) {
      const double start = ProcessMilliseconds();
      TERN_TRY((side == &figures.before ? first : second).RunBound());
      side->measured_ms = std::min(side->measured_ms, ProcessMilliseconds() - start);
    }
  } while (all.Milliseconds() < seconds * 1000);
  return {};
}

Result<OptimizeFigures> OptimizeAndCount(Graph& graph, OptimizeOptions options) {
  OptimizeFigures figures;
  figures.open_dims = SmallestSize(graph);
  figures.before = CountGraph(*Closed(graph, figures.open_dims));
  RuleLedger ledger(graph);
  options.after_change = [&](const std::string& name, const Graph& now) { ledger.Charge(name, now); };
  TERN_ASSIGN(figures.report, Optimize(graph, options));
  figures.rules = std::move(ledger.rules);
  for (const auto& [name, hits] : figures.report.hits) figures.rules[name].hits = hits;
  figures.after = CountGraph(*Closed(graph, figures.open_dims));
  figures.ops = CountOps(graph);
  return figures;
}

void PrintFigures(const OptimizeFigures& f) {
  constexpr const char* kRow = "{:<34} {:>7} {:>8} {:>10} {:>10}\n";
  fmt::print(kRow, "rule", "hits", "nodes", "FLOPs", "bytes");
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, rule] : f.rules) order.emplace_back(-rule.hits, name);
  std::sort(order.begin(), order.end());
  const auto change = [](double v) {
    return v == 0 ? std::string("-") : (v < 0 ? "-" : "+") + Thousands(std::abs(v));
  };
  for (const auto& [unused, name] : order) {
    const RuleFigures& r = f.rules.at(name);
    fmt::print(kRow, name, r.hits, r.nodes ? fmt::format("{:+}", r.nodes) : "-", change(r.flops),
               change(r.bytes));
  }
  const auto line = [&](const char* title, const std::string& a, const std::string& b) {
    fmt::print("{:<12}{:>12} -> {:<12}\n", title, a, b);
  };
  fmt::print("\n");
  line("Tern nodes", fmt::format("{}", f.before.nodes), fmt::format("{}", f.after.nodes));
  line("FLOPs", Thousands(f.before.cost.flops), Thousands(f.after.cost.flops));
  line("bytes", Thousands(f.before.cost.bytes), Thousands(f.after.cost.bytes));
  line("estimated", fmt::format("{:.3f} ms", f.before.estimated_ms),
       fmt::format("{:.3f} ms", f.after.estimated_ms));
  if (f.before.measured_ms > 0)
    line("measured", fmt::format("{:.3f} ms", f.before.measured_ms),
         fmt::format("{:.3f} ms, level {}", f.after.measured_ms, f.measured_level));
  fmt::print("optimized in {:.1f} ms; the numbers assume open dims of size {}\n", f.report.milliseconds,
             f.open_dims);
}

std::string FiguresToJson(const std::string& model, const std::string& output, int64_t written,
                          const OptimizeFigures& f) {
  data::JsonWriter json;
  const auto pair = [&](const std::string& key, double before, double after) {
    const auto whole = [](double v) { return static_cast<int64_t>(std::min(std::ceil(v), 9e18)); };
    json.Key(key + "_before").Int(whole(before)).Key(key + "_after").Int(whole(after));
  };
  json.BeginObject().Key("model").Text(model).Key("output").Text(output);
  pair("nodes", f.before.nodes, f.after.nodes);
  if (!output.empty()) json.Key("nodes_written").Int(written);
  pair("flops", f.before.cost.flops, f.after.cost.flops);
  pair("bytes", f.before.cost.bytes, f.after.cost.bytes);
  json.Key("estimated_ms_before")
      .Number(f.before.estimated_ms)
      .Key("estimated_ms_after")
      .Number(f.after.estimated_ms);
  if (f.before.measured_ms > 0)
    json.Key("measured_ms_before")
        .Number(f.before.measured_ms)
        .Key("measured_ms_after")
        .Number(f.after.measured_ms)
        .Key("measured_level")
        .Text(f.measured_level)
        .Key("measured_nodes")
        .Int(f.measured_nodes);
  json.Key("rules").BeginObject();
  for (const auto& [name, hits] : f.report.hits) json.Key(name).Int(hits);
  json.EndObject().Key("ops").BeginObject();
  for (const auto& [name, count] : f.ops) json.Key(name).Int(count);
  json.EndObject().Key("warnings").BeginArray();
  for (const std::string& text : f.report.warnings) json.Text(text);
  json.EndArray()
      .Key("open_dims")
      .Int(f.open_dims)
      .Key("optimize_ms")
      .Number(f.report.milliseconds)
      .EndObject();
  return json.Take();
}

}  // namespace tern::tools
