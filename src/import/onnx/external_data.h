// Tensors whose bytes lie in a file beside the model.
#pragma once
#include <sys/types.h>

#include <map>
#include <tuple>

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// The data files of one model while it is being imported: many tensors point into one file, which is mapped
// once, and unmapped with the last tensor. Loading a model again maps its files anew (the system shares the
// pages), so bytes of a file since replaced are never handed out.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  // The file must lie inside the folder, symbolic links included; `tensor` is for messages.
  Result<Buffer> Map(const std::string& location, const std::string& tensor);

 private:
  // Device, inode, size, and time of change in seconds and nanoseconds: a file that is rewritten or replaced
  // is another one.
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::string folder_;
  std::map<Identity, Buffer> maps_;
};

// The tensor as a view of its file.
Result<Tensor> ReadExternal(const pb::TensorProto& proto, DType dtype, Dims dims, const TensorSource& source);

}  // namespace tern::onnx
