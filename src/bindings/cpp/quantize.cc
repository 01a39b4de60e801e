// Implements the public API's Quantize. It is compiled into libtern_quantize, not into libtern.
#include "quantize/quantize.h"

#include "bindings/cpp/config.h"
#include "generate/generate.h"
#include "tern/quantize.hpp"

namespace tern::v1 {
namespace {

quantize::Options OptionsOf(const QuantizeOptions& o) {
  quantize::Options out;
  out.calib = o.calib;
  out.preprocess = o.preprocess;
  out.method = o.method;
  out.percentile = o.percentile;
  out.samples = o.samples;
  out.bits = o.bits;
  out.symmetric = o.symmetric;
  out.per_tensor = o.per_tensor;
  out.adaround = o.adaround;
  out.bias_correction = o.bias_correction;
  out.equalize = o.equalize;
  out.min_sqnr = o.min_sqnr;
  out.fastest = o.fastest;
  out.layers = o.layers;
  out.sensitivity = o.sensitivity;
  out.weights = o.weights;
  out.block = o.block;
  out.weight_method = o.weight_method;
  out.dynamic = o.dynamic;
  out.keep_float = o.keep_float;
  out.external_data = o.external_data;
  return out;
}

}  // namespace

Result<std::string> Quantizer::Run(const Config& config, const std::string& output,
                                   const QuantizeOptions& options) {
  std::string report;
  const Status status = Protect([&]() -> tern::Status {
    TERN_TRY(config.impl_->Check());
    if (config.impl_->buffer) return tern::InvalidArgument("quantization needs model_path, not model_buffer");
    tern::InitGenerate();
    TERN_ASSIGN(tern::load::Loaded loaded, config.impl_->Load());
    quantize::Options own = OptionsOf(options);
    own.threads = config.impl_->options.threads;
    TERN_ASSIGN(report, quantize::Quantize(std::move(loaded.graph), config.impl_->model_path, output, own));
    return {};
  });
  if (!status.ok()) return status;
  return report;
}

}  // namespace tern::v1
