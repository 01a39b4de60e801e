// ONNX messages to Tern's tensors, types and data, and back.
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

// Raw bytes, each with an owner of its own, so that a tensor that nobody needs any more can leave memory
// while others stay. Those of a message are taken out of it; others lie elsewhere and are copied when asked
// for.
class RawBytes {
 public:
  explicit RawBytes(const Workers& copiers = Workers(1)) : copiers_(copiers) {}
  // These bytes, which stay there while the model is imported, are the tensor's.
  void Add(const pb::TensorProto& proto, const std::byte* data, size_t size);
  bool Has(const pb::TensorProto& proto) const;
  size_t SizeOf(const pb::TensorProto& proto) const;
  // Aligned for any type. Changes the message all the same: it is the importer's own, as ImportModel says.
  // The same bytes again when called again.
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
