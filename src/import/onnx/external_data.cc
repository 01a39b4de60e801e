#include "import/onnx/external_data.h"

#include <algorithm>

namespace tern::onnx {

Result<Tensor> ReadExternal(const pb::TensorProto& p, DType dtype, Dims dims, const TensorSource& source) {
  if (dtype == DType::kString) return InvalidModel("tensor '", p.name(), "': strings cannot be external");
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : p.external_data()) {
    bool good = true;
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      good = ParseInt(entry.value(), offset);
    else if (entry.key() == "length")
      good = ParseInt(entry.value(), length);
    if (!good)
      return InvalidModel("tensor '", p.name(), "': external data ", entry.key(), " '", entry.value(),
                          "' is not a number");
  }
  if (!source.files)
    return InvalidModel("the data of tensor '", p.name(), "' is in the file '", location,
                        "', but a model in memory cannot have external data");
  TERN_ASSIGN(Buffer file, source.files->Map(location, p.name()));
  const size_t wanted = BytesOf(dtype, static_cast<size_t>(CountOf(dims)));
  if (length >= 0 && static_cast<size_t>(length) != wanted)
    return InvalidModel("tensor '", p.name(), "' ", Describe(dtype, dims), " needs ", wanted,
                        " bytes, but the length of its external data is ", length);
  if (offset < 0 || static_cast<size_t>(offset) > file.size() ||
      wanted > file.size() - static_cast<size_t>(offset))
    return InvalidModel("tensor '", p.name(), "' needs ", wanted, " bytes at ", offset, " of '", location,
                        "', which has ", file.size());
  Buffer bytes = file.Slice(static_cast<size_t>(offset), wanted);
  const size_t align = std::max<size_t>(1, static_cast<size_t>(BitWidth(dtype)) / 8);
  Tensor view = Tensor::View(bytes, dtype, dims);
  return reinterpret_cast<uintptr_t>(bytes.data()) % align == 0 ? view : view.Clone();
}

}  // namespace tern::onnx
