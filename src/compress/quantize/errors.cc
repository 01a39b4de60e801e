#include "compress/quantize/errors.h"

#include <algorithm>
#include <cmath>

namespace tern::compress {
namespace {

bool IsReal(const Value* v) { return v->type.tensor() && v->type.dtype == DType::kF32; }

std::vector<const Value*> RealOutputs(const Graph& graph) {
  std::vector<const Value*> found;
  for (const Value* v : graph.outputs())
    if (IsReal(v)) found.push_back(v);
  return found;
}

}  // namespace

void ErrorSums::Add(const Tensor& wanted, const Tensor& got) {
  const Tensor a = wanted.Contiguous(), b = got.Contiguous();
  TERN_CHECK(a.size() == b.size() && a.dtype() == DType::kF32 && b.dtype() == DType::kF32);
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data<float>()[i], y = b.data<float>()[i];
    signal += x * x;
    noise += (x - y) * (x - y);
    product += x * y;
    squares += y * y;
    largest = std::max(largest, std::fabs(x - y));
  }
}

double ErrorSums::sqnr() const { return noise == 0 ? INFINITY : 10 * std::log10(signal / noise); }

double ErrorSums::cosine() const {
  if (signal == 0 || squares == 0) return signal == squares ? 1 : 0;
  return product / std::sqrt(signal * squares);
}

Result<std::unique_ptr<ErrorMeter>> ErrorMeter::Make(const Quantizer& quantizer, Samples& samples,
                                                     size_t limit) {
  std::unique_ptr<ErrorMeter> made(new ErrorMeter(quantizer, quantizer.options().threads));
  const std::vector<const Value*> outputs = RealOutputs(quantizer.graph());
  TERN_ASSIGN(const std::unique_ptr<Observer> real,
              Observer::Make(quantizer.graph(), outputs, made->threads_));
  for (size_t i = 0; i < std::min(limit, samples.size()); ++i) {
    TERN_ASSIGN(DatumList inputs, samples.Get(i));
    TERN_ASSIGN(DatumList wanted, real->Run(inputs, samples.NameOf(i)));
    made->inputs_.push_back(std::move(inputs));
    made->outputs_.push_back(std::move(wanted));
    made->names_.push_back(samples.NameOf(i));
  }
  return made;
}

Result<std::vector<ErrorSums>> ErrorMeter::Compare(const Graph& graph,
                                                   const std::vector<const Value*>& values,
                                                   const std::vector<DatumList>& wanted) {
  std::vector<ErrorSums> sums(values.size());
  TERN_ASSIGN(const std::unique_ptr<Observer> other, Observer::Make(graph, values, threads_));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TERN_ASSIGN(const DatumList got, other->Run(inputs_[i], names_[i]));
    for (size_t k = 0; k < values.size(); ++k) sums[k].Add(wanted[i][k].tensor, got[k].tensor);
  }
  return sums;
}

Result<ErrorSums> ErrorMeter::Outputs(const Quantized& made) {
  TERN_ASSIGN(const std::vector<ErrorSums> sums, Compare(*made.graph, RealOutputs(*made.graph), outputs_));
  ErrorSums all;
  for (const ErrorSums& s : sums) {
    all.signal += s.signal, all.noise += s.noise, all.product += s.product, all.squares += s.squares;
    all.largest = std::max(all.largest, s.largest);
  }
  return all;
}

Result<std::vector<ErrorSums>> ErrorMeter::Layers(const Quantized& made) {
  std::vector<const Value*> real, written;
  for (const LayerReport& layer : made.layers) real.push_back(layer.real), written.push_back(layer.written);
  // One sample at a time, because the results of all layers may be much larger than the outputs.
  TERN_ASSIGN(const std::unique_ptr<Observer> first, Observer::Make(quantizer_.graph(), real, threads_));
  TERN_ASSIGN(const std::unique_ptr<Observer> second, Observer::Make(*made.graph, written, threads_));
  std::vector<ErrorSums> sums(made.layers.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TERN_ASSIGN(const DatumList wanted, first->Run(inputs_[i], names_[i]));
    TERN_ASSIGN(const DatumList got, second->Run(inputs_[i], names_[i]));
    for (size_t k = 0; k < sums.size(); ++k) sums[k].Add(wanted[k].tensor, got[k].tensor);
  }
  return sums;
}

Result<std::vector<ErrorSums>> ErrorMeter::OneByOne(const ShowProgress& show) {
  const std::vector<Layer>& layers = quantizer_.placement().layers;
  std::vector<ErrorSums> found;
  for (const Layer& only : layers) {
    std::map<std::string, std::string> keep;
    for (const Layer& layer : layers)
      if (layer.node != only.node) keep[layer.name()] = "one layer at a time";
    TERN_ASSIGN(const Quantized made, quantizer_.Write(keep));
    TERN_ASSIGN(const ErrorSums sums, Outputs(made));
    found.push_back(sums);
    if (show) show(static_cast<double>(found.size()) / static_cast<double>(layers.size()));
  }
  return found;
}

}  // namespace tern::compress
