// Converts between ONNX messages and Tern's tensors, types and data.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/thread_pool.h"
#include "core/datum.h"
#include "onnx.pb.h"

namespace tern::onnx {

namespace pb = tern_onnx;

Result<DType> DTypeFromOnnx(int data_type);
int DTypeToOnnx(DType dtype);

class ExternalFiles;

// The bytes of tensors, each in a separate buffer, so that a tensor without readers can be freed while others
// stay. Bytes in a message are moved out of it; bytes elsewhere (Add) are copied on demand.
class RawBytes {
 public:
  explicit RawBytes(const Workers& copiers = Workers(1)) : copiers_(copiers) {}
  // Registers the tensor's bytes, which must stay valid during the import.
  void Add(const pb::TensorProto& proto, const std::byte* data, size_t size);
  bool Has(const pb::TensorProto& proto) const;
  size_t SizeOf(const pb::TensorProto& proto) const;
  // Returns the bytes, aligned for any type; repeated calls return the same buffer. Changes the message
  // although it is const: ImportModel owns it.
  Buffer Take(const pb::TensorProto& proto);

 private:
  struct Bytes {
    const std::byte* data = nullptr;
    size_t size = 0;
  };
  const Workers copiers_;
  std::map<const pb::TensorProto*, Bytes> elsewhere_;
  std::map<const pb::TensorProto*, Buffer> taken_;
};

// The source of external data and of embedded bytes.
struct TensorSource {
  std::shared_ptr<ExternalFiles> files;  // files of the model's folder; null: external data is refused
  std::shared_ptr<RawBytes> raw;         // null: bytes are copied
};
Result<Tensor> TensorFromOnnx(const pb::TensorProto& proto, const TensorSource& source);
Result<Tensor> SparseFromOnnx(const pb::SparseTensorProto& proto, const TensorSource& source);
Result<Datum> SequenceFromOnnx(const pb::SequenceProto& proto);
Result<Datum> MapFromOnnx(const pb::MapProto& proto);
Result<Datum> OptionalFromOnnx(const pb::OptionalProto& proto);
void TensorToOnnx(const Tensor& tensor, pb::TensorProto& proto);

// The texts that are the entire dim_param of a graph input. Expressions may use them as symbols.
using DimNames = std::set<std::string>;
Type TypeFromOnnx(const pb::TypeProto& proto, const DimNames& names);
void TypeToOnnx(const Type& type, pb::TypeProto& proto);

}  // namespace tern::onnx
