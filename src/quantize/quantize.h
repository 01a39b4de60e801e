// Quantizes a model and writes it to a file, as `tern quantize` does. For the APIs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compress/weights/weight_only.h"
#include "ir/graph.h"

namespace tern::quantize {

struct Options {
  // Static quantization. Weight methods other than nearest also need `calib`, and use `preprocess` and
  // `samples`.
  std::string calib;                    // a folder or an .npz file with samples
  std::string preprocess = "imagenet";  // pictures: imagenet, none or a .json file
  std::string method = "mse";           // how the ranges of activations are chosen
  double percentile = 99.99;            // for the method percentile
  int64_t samples = 0;                  // how many samples are used, from the first; 0 means all
  int bits = 8;                         // of activations, 8 or 16
  bool symmetric = false, per_tensor = false, adaround = true, bias_correction = true, equalize = false;
  double min_sqnr = 0;
  bool fastest = false, layers = false, sensitivity = false;
  // Weight-only and dynamic quantization.
  std::string weights;  // "int8" or "int4"; empty: static quantization
  int64_t block = -1;   // weights along k that share a scale; -1: 32 for int4, 0 (all) for int8
  std::string weight_method = "nearest";  // nearest, gptq, awq or adaround
  bool dynamic = false;
  // For all kinds of quantization.
  std::vector<std::string> keep_float;  // names of layers
  int threads = 0;
  bool external_data = false;
};

// Converts the options of weight-only and dynamic quantization. The caller has checked the names in
// `options`.
compress::WeightOnlyOptions WeightOptionsOf(const Options& options);

// `model` is the file that the graph was loaded from. Returns the report, one JSON object.
Result<std::string> Quantize(std::unique_ptr<Graph> graph, const std::string& model,
                             const std::string& output, const Options& options);

}  // namespace tern::quantize
