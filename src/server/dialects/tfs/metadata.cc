#include "server/dialects/tfs/metadata.h"

#include "server/dialects/tfs/data_types.h"
#include "server/dialects/tfs/model_spec.h"
#include "server/dialects/tfs/shapes.h"

namespace tern::server::tfs {
namespace {

std::vector<SignatureTensor> Describe(const ModelConfig& config, const std::vector<TensorConfig>& tensors) {
  std::vector<SignatureTensor> out;
  for (const TensorConfig& tensor : tensors)
    out.push_back({tensor.name, tensor.name, NumberOfType(tensor.dtype), true, FullDims(config, tensor)});
  return out;
}

}  // namespace

std::vector<Signature> DescribeSignatures(const ModelVersion& version) {
  if (version.signatures()) return *version.signatures();
  const ModelConfig& config = version.config();
  Signature own;
  own.name = kDefaultSignature;
  own.method = kPredictMethod;
  own.inputs = Describe(config, config.inputs);
  own.outputs = Describe(config, config.outputs);
  return {std::move(own)};
}

}  // namespace tern::server::tfs
