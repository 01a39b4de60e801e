// Reports the effect of an optimization: nodes, FLOPs, bytes and time, before and after, per rule.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "passes/pipeline.h"
#include "runtime/cost/cost.h"

namespace tern::tools {

struct GraphFigures {
  int nodes = 0;
  Cost cost;          // open dims are counted as OptimizeFigures::open_dims
  int uncounted = 0;  // nodes whose dims depend on data
  double estimated_ms = 0;
  double measured_ms = 0;  // the fastest run; 0: not measured
};

struct RuleFigures {
  int hits = 0;
  int nodes = 0;  // change against before
  double flops = 0, bytes = 0;
};

struct OptimizeFigures {
  GraphFigures before, after;
  std::map<std::string, RuleFigures> rules;
  std::map<std::string, int> ops;  // number of nodes per op after the optimization
  OptimizeReport report;
  std::string measured_level;  // level of the graph that after.measured_ms measures
  int measured_nodes = 0;      // nodes of that graph
  int64_t open_dims = 1;       // the size that open dims are counted with
};

// Counts a graph. `closed` must have no open dims.
GraphFigures CountGraph(const Graph& closed);
// Returns milliseconds of one thread at a nominal speed. They compare two graphs; they do not predict a run.
double EstimateMs(const Cost& cost, int nodes);
std::map<std::string, int> CountOps(const Graph& graph);

// Runs both alternately for about `seconds` and fills measured_ms.
Status MeasureBoth(const Graph& before, const Graph& after, double seconds, OptimizeFigures& figures);

// Optimizes in place and counts the changes of each rule. Open dims are counted as 1, or as the first larger
// size that the model accepts.
Result<OptimizeFigures> OptimizeAndCount(Graph& graph, OptimizeOptions options);

void PrintFigures(const OptimizeFigures& figures);
// written: nodes in the output, where there is one.
std::string FiguresToJson(const std::string& model, const std::string& output, int64_t written,
                          const OptimizeFigures& figures);

}  // namespace tern::tools
