// Describes a tensor of a subgraph, and reads the elements of constants.
#pragma once
#include <string>
#include <vector>

#include "core/type.h"
#include "import/tflite/model.h"

namespace tern::tflite {

// real = (stored - zero) * scale. There is one scale for all elements, one per index of `axis`, or one per
// block of `block_size` elements along the last axis.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zeros;  // as many as scales, or empty if all are 0
  int axis = 0;
  int64_t block_size = 0;  // 0: no blocks
  int block_scales = -1;   // with blocks: the index of the tensor with the scales
  // With blocks: the index of the tensor with the zero points; -1 or 0 if there is none.
  int block_zeros = -1;

  bool one_scale() const { return scales.size() == 1; }
  bool operator==(const Quantization& other) const {
    return scales == other.scales && zeros == other.zeros && axis == other.axis &&
           block_size == other.block_size;
  }
};

struct TensorInfo {
  const fb::Tensor* tensor = nullptr;
  std::string name;
  DType dtype = DType::kInvalid;  // kInvalid for a resource or variant
  bool resource = false;
  std::vector<int64_t> dims;       // as stored; a dynamic dim is 1
  std::vector<int64_t> signature;  // -1 for a dynamic dim
  Quantization quant;
  // Whether the elements are integers of up to 16 bits with scales.
  bool quantized = false;
  bool variable = false;

  std::string Describe() const;  // "tensor 'x' i8[1,4]"
};

Result<TensorInfo> InfoOf(const fb::Tensor& tensor);
// Returns the elements of a constant. If the file has no data for the tensor, the result is not defined,
// except for a constant without elements. Sparse tensors become dense. If possible, the result refers to the
// bytes of the file.
Result<Tensor> ConstantOf(const Model& model, const TensorInfo& info);

// Reads a sparse tensor. `stored` has the elements that the file lists.
Result<Tensor> Densify(const fb::SparsityParameters& sparsity, const Buffer& stored, const TensorInfo& info);

// Returns a copy of the tensor with permuted dims. If only dims of size 1 move, returns a view.
Tensor Permuted(const Tensor& t, const std::vector<int64_t>& perm);
// Returns integers of 2 or 4 bits as i8 or u8. Returns tensors of wider types unchanged.
Tensor Widened(const Tensor& t);

}  // namespace tern::tflite
