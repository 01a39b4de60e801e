// Tensors whose bytes are in a file beside the model.
#pragma once
#include <sys/types.h>

#include <map>
#include <tuple>

#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

// The data files of one model during its import. A file is mapped once for all its tensors and unmapped with
// the last of them. Each import maps the files again (the system shares the pages), so a replaced file is
// never read from an old mapping.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  // The file must be inside the folder, after symbolic links are resolved. `tensor` is for messages.
  Result<Buffer> Map(const std::string& location, const std::string& tensor);

 private:
  // Device, inode, size, and time of change in seconds and nanoseconds. A rewritten or replaced file has
  // another key.
  using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::string folder_;
  std::map<Identity, Buffer> maps_;
};

// Returns the tensor as a view of its mapped file.
Result<Tensor> ReadExternal(const pb::TensorProto& proto, DType dtype, Dims dims, const TensorSource& source);

}  // namespace tern::onnx
