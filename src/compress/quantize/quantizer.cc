#include "compress/quantize/quantizer.h"

#include <algorithm>

#include "passes/pipeline.h"
#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

// Keeps GlobalPool, which works on integers. A Reduce does not.
constexpr const char* kNotApplied[] = {"MergeReduceView"};

// Returns the values that may get a grid, whatever layers stay float.
std::vector<const Value*> Candidates(const Placement& placement) {
  std::vector<const Value*> found(placement.values.begin(), placement.values.end());
  for (const Layer& layer : placement.layers) {
    const auto add = [&](const Value* v) {
      if (std::find(found.begin(), found.end(), v) == found.end()) found.push_back(v);
    };
    add(layer.node->output(0));
    for (const Node* node : layer.epilogue) add(node->output(0));
  }
  return found;
}

std::vector<float> BiasOf(const Node& node) {
  if (!node.input(2)) return {};
  const Tensor bias = node.input(2)->constant.Contiguous();
  return {bias.data<float>(), bias.data<float>() + bias.size()};
}

}  // namespace

Result<std::unique_ptr<Quantizer>> Quantizer::Make(std::unique_ptr<Graph> graph,
                                                   const QuantizeOptions& options) {
  OptimizeOptions passes;
  passes.disable.assign(std::begin(kNotApplied), std::end(kNotApplied));
  passes.stop_after = "recompose";
  TERN_TRY(Optimize(*graph, passes).status());
  std::unique_ptr<Quantizer> made(new Quantizer());
  made->graph_ = std::move(graph);
  made->options_ = options;
  made->placement_ = Place(*made->graph_, options.keep);
  if (made->placement_.layers.empty()) {
    std::string why = "it has no Conv or MatMul";
    if (!made->placement_.floats.empty()) {
      const auto& [name, reason] = *made->placement_.floats.begin();
      why = StrCat(made->placement_.floats.size(), " layers stay float, such as '", name, "': ", reason);
    }
    return InvalidArgument("the model has no layer that can be quantized: ", why);
  }
  TERN_ASSIGN(made->observer_, Observer::Make(*made->graph_, Candidates(made->placement_), options.threads));
  return made;
}

Status Quantizer::Observe(Samples& samples, const ShowProgress& show) {
  if (samples.size() == 0) return InvalidArgument("there is no calibration data");
  return observer_->AddAll(samples, show);
}

std::vector<Statistics> Quantizer::StatisticsOf(const Graph& copy, const Placement& placement) const {
  const std::vector<Value*> twins = TwinsOf(*graph_, copy, observer_->values());
  std::vector<Statistics> groups(placement.groups);
  for (size_t i = 0; i < twins.size(); ++i) {
    const auto group = placement.group.find(twins[i]);
    const Node* producer = twins[i]->producer;
    if (group == placement.group.end()) continue;
    // Moved elements are those of the operands, which belong to the same group.
    if (producer && placement.integer.count(producer) && OnlyMoves(*producer)) continue;
    groups[group->second].Merge(observer_->observations()[i].statistics);
  }
  return groups;
}

bool Quantizer::KeepNotFinite(const Placement& placement, const std::vector<Statistics>& statistics,
                              std::map<std::string, std::string>& keep) const {
  bool added = false;
  for (const Layer& layer : placement.layers) {
    const Histogram& h = statistics[placement.group.at(layer.node->input(0))].histogram;
    if (h.count() && !h.not_finite()) continue;
    keep[layer.name()] = h.count() ? StrCat(h.not_finite(), " values of its operand are not finite")
                                   : std::string("its operand is empty");
    added = true;
  }
  return added;
}

Result<Quantized> Quantizer::Write(const std::map<std::string, std::string>& keep_too) const {
  std::map<std::string, std::string> keep = options_.keep;
  keep.insert(keep_too.begin(), keep_too.end());
  Quantized made;
  made.graph = graph_->Clone();
  Placement placement = Place(*made.graph, keep);
  std::vector<Statistics> statistics = StatisticsOf(*made.graph, placement);
  while (KeepNotFinite(placement, statistics, keep)) {
    placement = Place(*made.graph, keep);
    statistics = StatisticsOf(*made.graph, placement);
  }
  std::vector<Grid> grids;
  for (const Statistics& s : statistics) {
    TERN_CHECK(s.histogram.count() > 0);  // KeepNotFinite leaves no other values
    grids.push_back(ChooseGrid(s, options_.activations));
  }
  std::vector<LayerWeights> weights;
  for (const Layer& layer : placement.layers) {
    LayerWeights w{{}, BiasOf(*layer.node)};
    const float input_scale = grids[placement.group.at(layer.node->input(0))].scale;
    w.weights = RoundWeights(RowsOf(*layer.node), w.bias, input_scale, options_.weights);
    weights.push_back(std::move(w));
    made.layers.push_back(layer.name());
  }
  for (const Value* v : placement.values) {
    const size_t group = placement.group.at(v);
    const GridError error = ErrorOf(grids[group], statistics[group].histogram);
    made.grids.push_back(
        {v->name, grids[group], statistics[group].histogram.range(), error.sqnr(), error.cosine()});
  }
  made.floats = placement.floats;
  TERN_TRY(InsertGrids(*made.graph, placement, grids, weights));
  return made;
}

}  // namespace tern::compress
