// Quantization: writes a copy of a model with integer weights and, after calibration, integer activations.
//
//   tern::QuantizeOptions options;
//   options.calib = "photos";  // a folder of pictures or arrays, or an .npz file
//   auto report = tern::Quantize(tern::Config("model.onnx"), "int8.tern", options);
//   if (!report.ok()) return Fail(report.status().message());
//   Show(*report);  // JSON: sizes, latencies and errors before and after
// docs/guide/quantization.md and weight_only.md explain the options, which are those of `tern quantize`. Link
// with Tern::tern_quantize (CMake), or with -ltern_quantize and `pkg-config --libs tern`.
#pragma once
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace tern {
TERN_API_NAMESPACE {
  struct QuantizeOptions {
    // Static quantization: 8-bit weights and activations, whose ranges come from calibration data.
    std::string calib;  // a folder with one picture, .npy or .npz per sample, or an .npz file
    std::string preprocess = "imagenet";  // pictures: "imagenet", "none" or a .json file
    // How the ranges of activations are chosen: minmax, ema, percentile, mse, kl, admm or eq.
    std::string method = "mse";
    double percentile = 99.99;    // the method percentile leaves out 100 - percentile % at each end
    int64_t samples = 0;          // use at most this many samples; 0 means all
    int bits = 8;                 // of activations: 8 or 16
    bool symmetric = false;       // zero points of activations are in the middle of the range
    bool per_tensor = false;      // one scale for all output channels of a layer's weights
    bool adaround = true;         // round weights so that results change least; otherwise to nearest
    bool bias_correction = true;  // correct biases for the change of mean results
    bool equalize = false;        // balance the channels between layers first
    double min_sqnr = 0;       // keep the most sensitive layers float until the outputs have this SQNR in dB
    bool fastest = false;      // keep a layer float if its integer kernel is slower on this machine
    bool layers = false;       // the report has the errors and times of each layer
    bool sensitivity = false;  // like layers; also the error of the outputs if only this layer is quantized

    // Weight-only and dynamic quantization. All weight methods but "nearest" need calibration data.
    std::string weights;  // "int8" or "int4"; empty means static quantization
    // Weights along k that share a scale: 16, a multiple of 32, or 0 for one scale per output column. -1
    // means 32 for int4 and 0 for int8.
    int64_t block = -1;
    std::string weight_method = "nearest";  // or "gptq", "awq" or "adaround"
    // Dynamic quantization: int8 weights, and activations that are quantized at run time with one scale per
    // row.
    bool dynamic = false;

    std::vector<std::string> keep_float;  // names of layers that stay float
    bool external_data = false;           // an .onnx model's weights are stored in OUTPUT.data
  };

  class Quantizer {
   public:
    // Quantizes the model of the config, which must have a model_path, and writes it to `output`, a .tern or
    // .onnx file. config.threads() is the number of worker threads. Returns the report as one JSON object,
    // with the keys of `tern quantize --json`.
    static Result<std::string> Run(const Config& config, const std::string& output,
                                   const QuantizeOptions& options);
  };

  inline Result<std::string> Quantize(const Config& config, const std::string& output,
                                      const QuantizeOptions& options) {
    return Quantizer::Run(config, output, options);
  }
}  // TERN_API_NAMESPACE
}  // namespace tern
