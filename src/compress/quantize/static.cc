#include "compress/quantize/static.h"

#include <cstdio>

namespace tern::compress {
namespace {

using Keep = std::map<std::string, std::string>;  // names of layers that stay float, with the reason

// Returns the sensitive layers that must stay float so that the outputs reach min_sqnr. If `sensitivity` is
// set, also measures the outputs with each layer alone quantized.
Result<Keep> SensitiveLayers(const Quantizer& quantizer, ErrorMeter& meter, const StaticOptions& options,
                             StaticReport& report) {
  const ShowProgress show = options.measuring ? options.measuring : [](double) {};
  MixedPrecision mixed;
  if (options.min_sqnr > 0) {
    TERN_ASSIGN(mixed, ReachSqnr(quantizer, meter, options.min_sqnr, show));
  }
  if (options.sensitivity && mixed.alone.empty()) {
    TERN_ASSIGN(mixed.alone, meter.OneByOne(show));
  }
  for (size_t i = 0; i < mixed.alone.size(); ++i)
    report.alone[quantizer.placement().layers[i].name()] = mixed.alone[i].sqnr();
  return std::move(mixed.keep);
}

std::string SlowerReason(double integer_ms, double float_ms) {
  char text[120];
  std::snprintf(text, sizeof text, "its integer kernel takes %.3f ms, its float kernel %.3f ms", integer_ms,
                float_ms);
  return text;
}

// Keeps the layers in float whose integer kernels are slower, if this makes the entire model faster.
Status KeepFaster(const Quantizer& quantizer, const Graph& before, const DatumList& inputs, const Keep& keep,
                  int threads, StaticReport& report) {
  Keep more = keep;
  for (const LayerReport& layer : report.made.layers) {
    const auto &was = report.costs.before.layers, &is = report.costs.after.layers;
    const auto before_ms = was.find(layer.name), after_ms = is.find(layer.name);
    if (before_ms == was.end() || after_ms == is.end() || after_ms->second <= before_ms->second) continue;
    more[layer.name] = SlowerReason(after_ms->second, before_ms->second);
  }
  if (more.size() == keep.size() || more.size() >= quantizer.placement().layers.size()) return {};
  TERN_ASSIGN(Quantized other, quantizer.Write(more));
  TERN_ASSIGN(RunCosts costs, MeasureCosts(before, *other.graph, inputs, threads));
  if (costs.after.ms >= report.costs.after.ms) return {};
  report.made = std::move(other);
  report.costs = std::move(costs);
  return {};
}

}  // namespace

Result<StaticReport> QuantizeStatic(std::unique_ptr<Graph> graph, Samples& samples,
                                    const StaticOptions& options) {
  const std::unique_ptr<Graph> before = graph->Clone();
  TERN_ASSIGN(const std::unique_ptr<Quantizer> quantizer,
              Quantizer::Make(std::move(graph), options.quantize));
  const ShowProgress show = options.calibrating ? options.calibrating : [](double) {};
  TERN_TRY(quantizer->Observe(samples, show, options.resume));
  StaticReport report;
  report.samples = samples.size();
  TERN_ASSIGN(const std::unique_ptr<ErrorMeter> meter, ErrorMeter::Make(*quantizer, samples));
  TERN_ASSIGN(const Keep keep, SensitiveLayers(*quantizer, *meter, options, report));
  TERN_ASSIGN(report.made, quantizer->Write(keep));
  for (const auto& [name, why] : options.quantize.keep)
    if (!report.made.floats.count(name)) return NotFound(why, " ", name, ": no Conv or MatMul has this name");
  TERN_ASSIGN(const DatumList inputs, samples.Get(0));
  const int threads = options.quantize.threads;
  TERN_ASSIGN(report.costs, MeasureCosts(*before, *report.made.graph, inputs, threads));
  if (options.fastest) TERN_TRY(KeepFaster(*quantizer, *before, inputs, keep, threads, report));
  TERN_ASSIGN(report.outputs, meter->Outputs(report.made));
  if (options.layers) {
    TERN_ASSIGN(report.layers, meter->Layers(report.made));
  }
  for (LayerReport& layer : report.made.layers) layer.real = nullptr;  // it belongs to the quantizer
  return report;
}

}  // namespace tern::compress
