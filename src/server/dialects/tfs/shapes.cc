#include "server/dialects/tfs/shapes.h"

#include <algorithm>

namespace tern::server::tfs {
namespace {

// Returns the number of elements, or -1 if a dim is open.
int64_t KnownCount(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    count *= dim;
  }
  return count;
}

// True if the back end's dims are a different form of the same number of elements.
bool IsReshaped(const TensorConfig& tensor) {
  return tensor.reshape && KnownCount(tensor.dims) >= 0 &&
         KnownCount(tensor.dims) == KnownCount(*tensor.reshape);
}

bool MatchesReshape(const TensorConfig& tensor, const Dims& dims, size_t batch) {
  return dims.size() == tensor.reshape->size() + batch &&
         std::equal(tensor.reshape->begin(), tensor.reshape->end(),
                    dims.begin() + static_cast<std::ptrdiff_t>(batch));
}

void ReplaceTail(Dims& dims, size_t batch, const Dims& tail) {
  dims.resize(batch);
  dims.insert(dims.end(), tail.begin(), tail.end());
}

}  // namespace

Dims FullDims(const ModelConfig& config, const TensorConfig& tensor) {
  Dims dims = tensor.dims;
  if (config.max_batch_size > 0) dims.insert(dims.begin(), -1);
  return dims;
}

void FitInputs(const ModelConfig& config, Request& request, ShapeFit& fit) {
  const size_t batch = config.max_batch_size > 0 ? 1 : 0;
  for (WireTensor& input : request.inputs) {
    const TensorConfig* expected = config.FindInput(input.name);
    if (!expected || input.dims.size() == expected->dims.size() + batch) continue;
    if (IsReshaped(*expected) && MatchesReshape(*expected, input.dims, batch)) {
      ReplaceTail(input.dims, batch, expected->dims);
    } else if (input.dims.size() + 1 == expected->dims.size() + batch && !expected->dims.empty() &&
               expected->dims.back() == 1) {
      input.dims.push_back(1);
      fit.added_one = true;
    }
  }
}

void FitOutput(const ModelConfig& config, const ShapeFit& fit, WireTensor& output) {
  const size_t batch = config.max_batch_size > 0 ? 1 : 0;
  const TensorConfig* stated = config.FindOutput(output.name);
  if (!stated || output.dims.size() != stated->dims.size() + batch) return;
  if (IsReshaped(*stated)) ReplaceTail(output.dims, batch, *stated->reshape);
  if (fit.added_one && output.dims.size() >= 2 && output.dims.back() == 1) output.dims.pop_back();
}

}  // namespace tern::server::tfs
