// ONNX messages to Tern's tensors, types and data, and back.
#pragma once
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

// Where external data may be read from, and whose bytes embedded tensors may borrow.
struct TensorSource {
  std::shared_ptr<ExternalFiles> files;    // of the model's folder; null: external data is refused
  std::shared_ptr<const void> keep_alive;  // owner of the message, so that raw bytes need no copy
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
