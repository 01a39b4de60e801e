// ONNX messages to Tern's tensors, types and data, and back.
#pragma once
#include <string>

#include "core/datum.h"
#include "onnx.pb.h"

namespace tern::onnx {

namespace pb = tern_onnx;

Result<DType> DTypeFromOnnx(int data_type);
int DTypeToOnnx(DType dtype);

// Where external data may be read from, and whose bytes embedded tensors may borrow.
struct TensorSource {
  std::string folder;                      // of the model file; empty: external data is refused
  std::shared_ptr<const void> keep_alive;  // owner of the message, so that raw bytes need no copy
};
Result<Tensor> TensorFromOnnx(const pb::TensorProto& proto, const TensorSource& source);
Result<Tensor> SparseFromOnnx(const pb::SparseTensorProto& proto, const TensorSource& source);
Result<Datum> SequenceFromOnnx(const pb::SequenceProto& proto);
Result<Datum> MapFromOnnx(const pb::MapProto& proto);
Result<Datum> OptionalFromOnnx(const pb::OptionalProto& proto);
void TensorToOnnx(const Tensor& tensor, pb::TensorProto& proto);

Type TypeFromOnnx(const pb::TypeProto& proto);
void TypeToOnnx(const Type& type, pb::TypeProto& proto);

}  // namespace tern::onnx
