// Reports the effect of an optimization. The report has the nodes, FLOPs, bytes and time before and after it,
// and the changes of each rule.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "passes/pipeline.h"
#include "runtime/cost/cost.h"

namespace tern::tools {

struct GraphFigures {
  int nodes = 0;
  Cost cost;          // for open dims of size OptimizeFigures::open_dims
  int uncounted = 0;  // nodes whose dims depend on data
  double estimated_ms = 0;
  double measured_ms = 0;  // processor time of the fastest run; 0 if not measured
};

struct RuleFigures {
  int hits = 0;
  int nodes = 0;                // change of the number of nodes
  double flops = 0, bytes = 0;  // change of the cost; not counted in graphs of more than 1500 nodes
};

struct OptimizeFigures {
  GraphFigures before, after;
  std::map<std::string, RuleFigures> rules;
  std::map<std::string, int> ops;  // number of nodes per op after the optimization
  OptimizeReport report;
  std::string measured_level;  // level of the graph whose time is after.measured_ms
  int measured_nodes = 0;      // number of nodes of the graph whose time is after.measured_ms
  int64_t open_dims = 1;       // the size that the costs assume for open dims
};

// Counts the nodes and costs of a graph without open dims.
GraphFigures CountGraph(const Graph& closed);
// Returns an estimated time in ms, for one thread and an assumed speed and bandwidth. Use it only to compare
// two graphs, because it does not predict the time of a run on this machine.
double EstimateMs(const Cost& cost, int nodes);
std::map<std::string, int> CountOps(const Graph& graph);

// Runs both graphs alternately for about `seconds`, on one thread. Sets measured_ms of figures.before and
// figures.after.
Status MeasureBoth(const Graph& before, const Graph& after, double seconds, OptimizeFigures& figures);

// Optimizes the graph in place and counts the changes of each rule. The costs assume that open dims have the
// size SmallestSize(graph).
Result<OptimizeFigures> OptimizeAndCount(Graph& graph, OptimizeOptions options);

void PrintFigures(const OptimizeFigures& figures);
// `output` is the file that was written, or "". `written` is the number of nodes in that file.
std::string FiguresToJson(const std::string& model, const std::string& output, int64_t written,
                          const OptimizeFigures& figures);

}  // namespace tern::tools
