#include "quantize/quantize.h"

#include "compress/quantize/method.h"
#include "quantize/report.h"
#include "quantize/samples.h"
#include "quantize/save.h"

namespace tern::quantize {
namespace {

constexpr int64_t kDefaultBlock = 32;

bool WeightsOnly(const Options& options) { return !options.weights.empty() || options.dynamic; }

Status CheckWeights(const Options& o) {
  if (!o.weights.empty() && o.weights != "int8" && o.weights != "int4")
    return InvalidArgument("weights is '", o.weights, "', but must be int8 or int4");
  if (!compress::ParseWeightMethod(o.weight_method))
    return InvalidArgument("weight_method is '", o.weight_method, "', but must be one of ",
                           Join(compress::WeightMethodNames(), ", "));
  if (o.dynamic && (o.weights == "int4" || o.block >= 0))
    return InvalidArgument(
        "dynamic uses int8 weights with one scale per output column, so it excludes weights int4 and a block");
  if (o.block > 0 && o.block != 16 && o.block % 32 != 0)
    return InvalidArgument("block is ", o.block, ", but must be 0, 16 or a multiple of 32");
  if (o.block > 1 << 20) return InvalidArgument("block is ", o.block, ", but must be at most ", 1 << 20);
  if (o.weight_method != "nearest" && o.calib.empty())
    return InvalidArgument("weight_method ", o.weight_method, " needs calibration data (calib)");
  return {};
}

Status CheckStatic(const Options& o) {
  if (o.calib.empty())
    return InvalidArgument("no calibration data is given (calib); weights and dynamic need none");
  if (!compress::ParseMethod(o.method))
    return InvalidArgument("method is '", o.method, "', but must be one of ",
                           Join(compress::MethodNames(), ", "));
  if (o.bits != 8 && o.bits != 16) return InvalidArgument("bits is ", o.bits, ", but must be 8 or 16");
  if (!(o.percentile > 50 && o.percentile <= 100))
    return InvalidArgument("percentile is ", o.percentile, ", but must be above 50 and at most 100");
  if (o.min_sqnr < 0) return InvalidArgument("min_sqnr is ", o.min_sqnr, ", but must not be negative");
  return {};
}

Status Check(const std::string& model, const std::string& output, const Options& o) {
  if (o.samples < 0) return InvalidArgument("samples is ", o.samples, ", but must not be negative");
  if (o.external_data && !EndsWith(output, ".onnx"))
    return InvalidArgument("external_data is for an .onnx output, got '", output, "'");
  TERN_TRY(WeightsOnly(o) ? CheckWeights(o) : CheckStatic(o));
  return CheckTarget(output, model);
}

compress::StaticOptions StaticOptionsOf(const std::string& output, const Options& o) {
  compress::StaticOptions all;
  compress::QuantizeOptions& q = all.quantize;
  q.activations = {*compress::ParseMethod(o.method), o.percentile, {o.bits, o.symmetric}};
  q.weights.per_channel = !o.per_tensor;
  q.adaround = o.adaround;
  q.correct_bias = o.bias_correction;
  q.equalize = o.equalize;
  q.integer_bias = EndsWith(output, ".onnx");
  q.threads = o.threads;
  for (const std::string& name : o.keep_float) q.keep[name] = "keep_float";
  all.min_sqnr = o.min_sqnr;
  all.fastest = o.fastest;
  all.sensitivity = o.sensitivity;
  all.layers = o.layers || o.sensitivity;
  return all;
}

}  // namespace

compress::WeightOnlyOptions WeightOptionsOf(const Options& o) {
  compress::WeightOnlyOptions options;
  options.format.bits = o.weights == "int4" ? 4 : 8;
  options.format.block = o.block >= 0 ? o.block : o.weights == "int4" ? kDefaultBlock : 0;
  options.format.search = options.format.bits == 4;
  options.dynamic = o.dynamic;
  options.method = *compress::ParseWeightMethod(o.weight_method);
  options.keep = o.keep_float;
  options.threads = o.threads;
  return options;
}

Result<std::string> Quantize(std::unique_ptr<Graph> graph, const std::string& model,
                             const std::string& output, const Options& options) {
  TERN_TRY(Check(model, output, options));
  std::unique_ptr<compress::Samples> samples;
  if (!options.calib.empty()) {
    TERN_ASSIGN(data::ImageOptions pictures, PreprocessOf(options.preprocess));
    TERN_ASSIGN(samples,
                OpenSamples(options.calib, *graph, SampleReader(std::move(pictures)), options.samples));
  }
  const SaveFormat format{options.external_data, false};
  if (WeightsOnly(options)) {
    TERN_ASSIGN(const compress::WeightOnlyReport report,
                compress::QuantizeWeights(*graph, WeightOptionsOf(options), samples.get()));
    TERN_TRY(SaveModel(*graph, output, model, format).status());
    return WeightsJson(FilesOf(model, output), report);
  }
  TERN_ASSIGN(const compress::StaticReport report,
              compress::QuantizeStatic(std::move(graph), *samples, StaticOptionsOf(output, options)));
  TERN_TRY(SaveModel(*report.made.graph, output, model, format).status());
  return StaticJson(FilesOf(model, output), options.method, report);
}

}  // namespace tern::quantize
