// Converts between ONNX messages and Tern's Tensor, Type and Datum.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/thread_pool.h"
#include "core/datum.h"
#include "onnx.pb.h"

namespace tern::import {
class ExternalFiles;
}

namespace tern::onnx {

namespace pb = tern_onnx;

Result<DType> DTypeFromOnnx(int data_type);
int DTypeToOnnx(DType dtype);

// Provides the bytes of tensors. Each tensor gets a separate buffer, so that its memory can be freed while
// other tensors still exist. If the bytes are in the message, Take moves them out of it. If Add registered
// the bytes, Take copies them.
class RawBytes {
 public:
  explicit RawBytes(const Workers& copiers = Workers(1)) : copiers_(copiers) {}
  // Registers bytes that are not in the message. They must stay valid during the import.
  void Add(const pb::TensorProto& proto, const std::byte* data, size_t size);
  bool Has(const pb::TensorProto& proto) const;
  size_t SizeOf(const pb::TensorProto& proto) const;
  // Returns the bytes, aligned for any type. Repeated calls return the same buffer. Changes the message
  // although it is const. This is safe, because ImportModel owns the message.
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

// Where the bytes of tensors come from.
struct TensorSource {
  std::shared_ptr<import::ExternalFiles>
      files;                      // files with external data; if null, external data is an error
  std::shared_ptr<RawBytes> raw;  // if null, bytes are copied from the message
};
Result<Tensor> TensorFromOnnx(const pb::TensorProto& proto, const TensorSource& source);
Result<Tensor> SparseFromOnnx(const pb::SparseTensorProto& proto, const TensorSource& source);
Result<Datum> SequenceFromOnnx(const pb::SequenceProto& proto);
Result<Datum> MapFromOnnx(const pb::MapProto& proto);
Result<Datum> OptionalFromOnnx(const pb::OptionalProto& proto);
void TensorToOnnx(const Tensor& tensor, pb::TensorProto& proto);

// The names (dim_param) of dims of graph inputs, such as "batch". A dim_param that combines these names, such
// as "batch*2", becomes an expression.
using DimNames = std::set<std::string>;
Type TypeFromOnnx(const pb::TypeProto& proto, const DimNames& names);
void TypeToOnnx(const Type& type, pb::TypeProto& proto);

}  // namespace tern::onnx
