// A TensorFlow Lite model whose flatbuffer has been verified, and the bytes of its tensors.
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "load/format.h"
#include "tflite_generated.h"

namespace tern::tflite {

// The number of the operator CUSTOM, whose name is in the operator code.
inline constexpr int kCustom = 32;

class Model {
 public:
  // Verifies the flatbuffer and its version. Also checks the indices of tensors, buffers and operator codes,
  // and of the subgraphs of signatures. `source` must outlive the model.
  static Result<Model> Open(const load::Source& source);

  const fb::Model& root() const { return *root_; }
  int subgraph_count() const { return static_cast<int>(root_->subgraphs()->size()); }
  const fb::SubGraph& subgraph(int i) const { return *root_->subgraphs()->Get(static_cast<uint32_t>(i)); }
  // Returns the subgraph of a signature, or of the first subgraph if `signature` is empty.
  Result<int> Find(const std::string& signature) const;
  // Returns the name that a signature gives to an input or output tensor of a subgraph. Empty if there is
  // none.
  std::string SignatureName(int subgraph, int tensor, bool output) const;

  // Returns "CONV_2D", or "CUSTOM:name" for a custom operator, or "operator #300" for an unknown number.
  std::string OperatorName(const fb::Operator& op) const;
  // Returns the bytes of the tensor's buffer. The buffer is not defined if the file has none.
  Result<Buffer> DataOf(const fb::Tensor& tensor) const;
  // Returns the options of a custom operator.
  Result<Buffer> CustomOptions(const fb::Operator& op) const;
  // Whether tensors may refer to the bytes of the file, which then stay mapped.
  bool shares_bytes() const { return !source_->path.empty(); }

 private:
  Status Check() const;
  Status CheckSubgraph(int index) const;
  Result<Buffer> Range(uint64_t offset, uint64_t size, const std::string& what) const;
  Result<Buffer> ExternalData(const fb::Tensor& tensor) const;
  Result<Buffer> ExternalFile(const std::string& name) const;

  const load::Source* source_ = nullptr;
  const fb::Model* root_ = nullptr;
  mutable std::map<std::string, Buffer> files_;
};

std::string TextOf(const flatbuffers::String* text);
// The verifier of FlatBuffers does not check the alignment of elements, so they are copied as bytes.
template <class T> std::vector<int64_t> LongsOf(const flatbuffers::Vector<T>* values) {
  std::vector<int64_t> out(values ? values->size() : 0);
  for (size_t i = 0; i < out.size(); ++i) {
    T element;
    std::memcpy(&element, values->Data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<int64_t>(flatbuffers::EndianScalar(element));
  }
  return out;
}

}  // namespace tern::tflite
