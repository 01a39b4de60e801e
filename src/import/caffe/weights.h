// The weights of a .caffemodel: a list of blobs for each layer.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::caffe {

// One array of weights. It refers to the bytes of the file.
struct Blob {
  Dims dims;
  DType dtype = DType::kF32;  // f32, f64 or f16
  std::string_view bytes;
  std::string loose;  // the bytes, if they are not contiguous in the file; then `bytes` is empty

  std::string_view data() const { return loose.empty() ? bytes : std::string_view(loose); }
};

class Weights {
 public:
  // Reads the structure of a .caffemodel. `path` is a part of error messages; it may be empty.
  static Result<Weights> Read(Buffer file, std::string path);

  // Returns the blobs of the first layer with this name, or null if there is no such layer. The layer may
  // have no blobs.
  const std::vector<Blob>* Find(const std::string& layer) const;
  // Returns a blob as f32 with its own dims. If possible, the tensor refers to the mapped file.
  Result<Tensor> TensorOf(const Blob& blob) const;
  // Returns the network of the file, a NetParameter without blobs.
  const std::string& network() const { return network_; }
  const std::string& path() const { return path_; }

 private:
  Status AddLayer(std::string_view message, uint64_t field);
  Status AddBlob(std::string_view message, std::vector<Blob>& blobs) const;

  Buffer file_;
  std::string path_;
  std::string network_;
  std::map<std::string, std::vector<Blob>> layers_;
};

}  // namespace tern::caffe
