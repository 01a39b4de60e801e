// Errors of quantized models: of each layer's result, and of the outputs when one layer alone is quantized.
#pragma once
#include "compress/quantize/quantizer.h"

namespace tern::compress {

// Sums over the elements of tensors with the results of a float model (wanted) and of another one (got).
struct ErrorSums {
  double signal = 0, noise = 0, product = 0, squares = 0, largest = 0;

  void Add(const Tensor& wanted, const Tensor& got);
  double sqnr() const;  // signal-to-noise ratio in dB; infinite without noise
  double cosine() const;
  double max_error() const { return largest; }  // the largest absolute difference
};

// The first samples of calibration data and the outputs of the float model for them.
class ErrorMeter {
 public:
  static constexpr size_t kMostSamples = 16;

  // Runs the quantizer's float model on at most `limit` samples. The quantizer must outlive the meter.
  static Result<std::unique_ptr<ErrorMeter>> Make(const Quantizer& quantizer, Samples& samples,
                                                  size_t limit = kMostSamples);

  // Returns the errors of a quantized model's outputs. Outputs that are not f32 are left out.
  Result<ErrorSums> Outputs(const Quantized& made);
  // Returns the errors of the result of each layer of `made`, with the errors of all layers before it.
  Result<std::vector<ErrorSums>> Layers(const Quantized& made);
  // For each layer of the quantizer, returns the errors of the outputs if only that layer is quantized.
  Result<std::vector<ErrorSums>> OneByOne(const ShowProgress& show);

 private:
  ErrorMeter(const Quantizer& quantizer, int threads) : quantizer_(quantizer), threads_(threads) {}
  Result<std::vector<ErrorSums>> Compare(const Graph& graph, const std::vector<const Value*>& values,
                                         const std::vector<DatumList>& wanted);

  const Quantizer& quantizer_;
  int threads_;
  std::vector<DatumList> inputs_, outputs_;  // of each sample
  std::vector<std::string> names_;
};

}  // namespace tern::compress
