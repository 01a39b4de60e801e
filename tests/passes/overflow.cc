#include "overflow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tern {
namespace {

Datum Magnitudes(const Datum& d) {
  if (!d.is_tensor() || !IsFloat(d.tensor.dtype())) return d;
  Datum copy = d;
  copy.tensor = Tensor(d.tensor.dtype(), d.tensor.dims());
  for (int64_t i = 0; i < d.tensor.size(); ++i)
    StoreDouble(copy.tensor, i, std::abs(LoadDouble(d.tensor, i)));
  return copy;
}

// Returns for each output channel of a Conv with padding whether its weights include an infinity or a NaN.
// Kernels multiply weights by the zeros of the padding. The reference evaluator skips the padding.
std::vector<bool> ChannelsWithPaddedWeights(const Node& node, const DatumList& inputs) {
  if (node.op->name != std::string("Conv") || node.attrs.Bool("channels_last")) return {};
  const Tensor& w = inputs[1].tensor;
  std::vector<bool> channels(static_cast<size_t>(w.dim(0)));
  const size_t each = static_cast<size_t>(std::max<int64_t>(1, w.size() / std::max<int64_t>(1, w.dim(0))));
  const auto weights = ToDoubles(w);
  for (size_t i = 0; i < weights.size(); ++i)
    if (!std::isfinite(weights[i])) channels[i / each] = true;
  return channels;
}

// Returns the channel of an element of [N, C, spatial…].
size_t ChannelOf(const Dims& dims, int64_t element) {
  int64_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) inner *= dims[i];
  return static_cast<size_t>(element / inner % dims[1]);
}

}  // namespace

void OverflowMarker::Observe(const Node& node, const DatumList& outputs) {
  const bool adds = node.op->macs && !outputs.empty() && outputs[0].is_tensor();
  if (adds && (outputs[0].tensor.dtype() == DType::kF32 || outputs[0].tensor.dtype() == DType::kBF16))
    Mark(node, outputs[0].tensor);
  values_.Add(node, outputs);
}

// Runs the node on the magnitudes of its inputs. The results are the sums of the magnitudes of the terms,
// rounded to f32 or bf16, which have the same range.
void OverflowMarker::Mark(const Node& node, const Tensor& output) {
  auto inputs = values_.InputsOf(node);
  if (!inputs) return;
  const auto padded = ChannelsWithPaddedWeights(node, *inputs);
  for (Datum& d : *inputs) d = Magnitudes(d);
  const auto sums = EvaluateOn(node, *inputs);
  if (!sums.ok() || (*sums)[0].tensor.dims() != output.dims()) return;
  Tensor view = output;
  for (int64_t i = 0; i < output.size(); ++i) {
    const bool may_differ = !std::isfinite(LoadDouble((*sums)[0].tensor, i)) ||
                            (!padded.empty() && padded[ChannelOf(output.dims(), i)]);
    if (!std::isfinite(LoadDouble(output, i)) || !may_differ) continue;
    StoreDouble(view, i, std::numeric_limits<double>::quiet_NaN());
    marked_ = true;
  }
}

}  // namespace tern
