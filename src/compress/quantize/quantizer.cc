#include "compress/quantize/quantizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "compress/quantize/equalize.h"
#include "passes/pipeline.h"
#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

// Rules that are not applied. MergeReduceView would turn a GlobalPool into a Reduce, which has no integer
// kernel.
constexpr const char* kNotApplied[] = {"MergeReduceView"};

constexpr size_t kEqualizeSamples = 32;

// Returns all values that may need quantization parameters, whichever layers Write later keeps float: the
// values of the placement, the results of its layers, and the values inside their epilogues.
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

// Returns the result of the Dequantize that InsertGrids added after v, or v if there is none.
const Value* AfterGrid(const Value* v) {
  for (const auto& [reader, index] : v->uses)
    if (IsOp(*reader, "Quantize") && index == 0)
      if (const Node* d = reader->output(0)->uses.empty() ? nullptr : reader->output(0)->uses[0].first)
        if (IsOp(*d, "Dequantize")) return d->output(0);
  return v;
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
  const std::vector<const Value*> values = Candidates(made->placement_);
  for (const Layer& layer : made->placement_.layers) {
    const auto patches = Patches::Of(*layer.node);
    if (!patches || !(options.adaround || options.correct_bias)) continue;
    const auto at = std::find(values.begin(), values.end(), layer.node->input(0)) - values.begin();
    made->operands_.emplace(layer.name(), Operand{*patches, Moments(*patches), static_cast<size_t>(at)});
  }
  return made;
}

Status Quantizer::Observe(Samples& samples, const ShowProgress& show, const Resume& resume) {
  if (samples.size() == 0) return InvalidArgument("there is no calibration data");
  if (options_.equalize) TERN_TRY(EqualizeOn(samples));
  TERN_ASSIGN(observer_, Observer::Make(*graph_, Candidates(placement_), options_.threads));
  size_t first = 0;
  if (!resume.state.empty()) {
    TERN_ASSIGN(first, Restore(samples, resume.state));
  }
  const size_t often = std::max<size_t>(samples.size() / 10, 1);
  for (size_t i = first; i < samples.size(); ++i) {
    TERN_ASSIGN(const DatumList inputs, samples.Get(i));
    TERN_ASSIGN(const DatumList values, observer_->Run(inputs, samples.NameOf(i)));
    observer_->Add(values);
    AddMoments(values, i, samples.size());
    if (resume.save && (i + 1) % often == 0) TERN_TRY(resume.save(Save(samples, i + 1)));
    if (show) show(static_cast<double>(i + 1) / static_cast<double>(samples.size()));
  }
  return {};
}

Status Quantizer::EqualizeOn(Samples& samples) {
  const std::vector<LayerPair> pairs = EqualizablePairs(placement_);
  std::vector<const Value*> values;
  for (const LayerPair& pair : pairs) values.push_back(pair.between);
  if (values.empty()) return {};
  TERN_ASSIGN(const std::unique_ptr<Observer> observer, Observer::Make(*graph_, values, options_.threads));
  for (size_t i = 0; i < std::min(samples.size(), kEqualizeSamples); ++i) {
    TERN_ASSIGN(const DatumList inputs, samples.Get(i));
    TERN_ASSIGN(const DatumList found, observer->Run(inputs, samples.NameOf(i)));
    observer->Add(found);
  }
  Equalize(*graph_, pairs, [&](const Value& v) -> const Channels& {
    const auto at = std::find(values.begin(), values.end(), &v) - values.begin();
    return observer->observations()[static_cast<size_t>(at)].channels;
  });
  return {};
}

void Quantizer::AddMoments(const DatumList& values, size_t sample, size_t samples) {
  std::vector<Operand*> operands;
  for (auto& [name, operand] : operands_) operands.push_back(&operand);
  Workers(options_.threads)
      .ParallelFor(static_cast<int64_t>(operands.size()), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          Operand& o = *operands[static_cast<size_t>(i)];
          const int64_t count =
              (RowsWanted(o.patches) + static_cast<int64_t>(samples) - 1) / static_cast<int64_t>(samples);
          const uint64_t seed = sample * operands.size() + static_cast<uint64_t>(i);
          o.moments.Add(o.patches.Sample(values[o.value].tensor.Contiguous(), count, seed), Workers(1));
        }
      });
}

LayerWeights Quantizer::WeightsOf(const Layer& layer, float input_scale, LayerReport& report) const {
  const WeightRows rows = RowsOf(*layer.node);
  LayerWeights made{{}, BiasOf(*layer.node)};
  made.weights = RoundWeights(rows, made.bias, input_scale, options_.weights);
  report.name = layer.name();
  const auto operand = operands_.find(report.name);
  if (operand == operands_.end() || operand->second.moments.rows() == 0) return made;
  const Moments& moments = operand->second.moments;
  const double noise = static_cast<double>(input_scale) * input_scale / 12;
  report.error = report.nearest_error = std::sqrt(ResultError(rows, moments, made.weights));
  if (options_.adaround) {
    RoundAdaptively(rows, moments, noise, Workers(options_.threads), made.weights);
    report.error = std::sqrt(ResultError(rows, moments, made.weights));
  }
  if (!options_.correct_bias) return made;
  made.bias.resize(static_cast<size_t>(rows.rows), 0);
  const std::vector<double> errors = MeanErrors(rows, moments, made.weights);
  for (size_t r = 0; r < errors.size(); ++r) made.bias[r] -= static_cast<float>(errors[r]);
  return made;
}

std::vector<Statistics> Quantizer::StatisticsOf(const Graph& copy, const Placement& placement) const {
  const std::vector<Value*> twins = TwinsOf(*graph_, copy, observer_->values());
  std::vector<Statistics> groups(placement.groups);
  for (size_t i = 0; i < twins.size(); ++i) {
    const auto group = placement.group.find(twins[i]);
    const Node* producer = twins[i]->producer;
    if (group == placement.group.end()) continue;
    // Skips the results of nodes that only move elements: their operands are in the same group and contain
    // all their elements.
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
    const float input_scale = grids[placement.group.at(layer.node->input(0))].scale;
    weights.push_back(WeightsOf(layer, input_scale, made.layers.emplace_back()));
  }
  for (const Value* v : placement.values) {
    const size_t group = placement.group.at(v);
    const GridError error = ErrorOf(grids[group], statistics[group].histogram);
    made.grids.push_back({v->name, grids[group], statistics[group].histogram.range(), error.sqnr(),
                          error.cosine(), statistics[group].histogram.Bars(64)});
  }
  made.floats = placement.floats;
  std::unordered_map<const Value*, const Value*> originals;
  const std::vector<const Value*> candidates = Candidates(placement_);
  const std::vector<Value*> twins = TwinsOf(*graph_, *made.graph, candidates);
  for (size_t i = 0; i < twins.size(); ++i) originals[twins[i]] = candidates[i];
  TERN_TRY(InsertGrids(*made.graph, placement, grids, weights, options_.integer_bias));
  for (size_t i = 0; i < made.layers.size(); ++i) {
    made.layers[i].real = originals.at(placement.layers[i].result);
    made.layers[i].written = AfterGrid(placement.layers[i].result);
  }
  return made;
}

}  // namespace tern::compress
