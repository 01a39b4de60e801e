// ONNX messages to Tern's tensors, types and data, and back.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/datum.h"
#include "onnx.pb.h"

namespace tern::onnx {

namespace pb = tern_onnx;

Result<DType> DTypeFromOnnx(int data_type);
int DTypeToOnnx(DType dtype);

class ExternalFiles;

// Raw bytes taken out of a message: they need no copy, and each has an owner of its own, so that a tensor
// that nobody needs any more can leave memory while others stay.
class RawBytes {
 public:
  // The message of `proto` must be this importer's own. The same bytes again when called again.
  std::shared_ptr<std::string> Take(const pb::TensorProto& proto);

 private:
  std::map<const pb::TensorProto*, std::shared_ptr<std::string>> taken_;
};

// Where external data may be read from, and how embedded bytes are had.
struct TensorSource {
  std::shared_ptr<ExternalFiles> files;  // of the model's folder; null: external data is refused
  std::shared_ptr<RawBytes> raw;         // null: bytes are copied
};
Result<Tensor> TensorFromOnnx(const pb::TensorProto& proto, const TensorSource& source);
Result<Tensor> SparseFromOnnx(const pb::SparseTensorProto& proto, const TensorSource& source);
Result<Datum> SequenceFromOnnx(const pb::SequenceProto& proto);
Result<Datum> MapFromOnnx(const pb::MapProto& proto);
Result<Datum> OptionalFromOnnx(const pb::OptionalProto& proto);
void TensorToOnnx(const Tensor& tensor, pb::TensorProto& proto);

// The texts that stand alone as a dim_param of some graph input: what expressions may be made of.
using DimNames = std::set<std::string>;
Type TypeFromOnnx(const pb::TypeProto& proto, const DimNames& names);
void TypeToOnnx(const Type& type, pb::TypeProto& proto);

}  // namespace tern::onnx
