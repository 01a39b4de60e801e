#include "import/onnx/external_data.h"

#include <filesystem>
#include <map>
#include <mutex>

namespace tern::onnx {
namespace {

namespace fs = std::filesystem;

// Many tensors point into one file; map it once and let the last tensor unmap it.
Result<Buffer> MapShared(const std::string& path) {
  static std::mutex mutex;
  static auto* files = new std::map<std::string, std::weak_ptr<Buffer>>();
  std::lock_guard lock(mutex);
  if (auto live = (*files)[path].lock()) return *live;
  TERN_ASSIGN(Buffer mapped, Buffer::MapFile(path));
  auto held = std::make_shared<Buffer>(mapped);
  (*files)[path] = held;
  return Buffer::Borrow(mapped.data(), mapped.size(), held);
}

// The location must stay inside the folder, symbolic links included.
Result<std::string> ResolveInside(const std::string& folder, const std::string& location,
                                  const std::string& tensor) {
  const fs::path relative(location);
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return IoError("cannot open the model's folder '", folder, "': ", error.message());
  if (location.empty() || relative.is_absolute())
    return InvalidModel("external data of tensor '", tensor, "' must be a relative path, got '", location,
                        "'");
  for (const auto& part : relative)
    if (part == "..")
      return InvalidModel("external data of tensor '", tensor, "' leaves the model's folder: '", location,
                          "'");
  const fs::path full = fs::canonical(root / relative, error);
  if (error)
    return IoError("external data file '", location, "' of tensor '", tensor, "': ", error.message());
  const auto [end, mismatch] = std::mismatch(root.begin(), root.end(), full.begin(), full.end());
  if (end != root.end())
    return InvalidModel("external data of tensor '", tensor, "' leaves the model's folder: '", location, "'");
  return full.string();
}

}  // namespace

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
  if (source.folder.empty())
    return InvalidModel("tensor '", p.name(), "' keeps its data in '", location,
                        "', which cannot be reached from a model in memory");
  TERN_ASSIGN(std::string path, ResolveInside(source.folder, location, p.name()));
  TERN_ASSIGN(Buffer file, MapShared(path));
  const size_t wanted = BytesOf(dtype, static_cast<size_t>(CountOf(dims)));
  if (length >= 0 && static_cast<size_t>(length) != wanted)
    return InvalidModel("tensor '", p.name(), "' ", Describe(dtype, dims), " needs ", wanted,
                        " bytes, external data length is ", length);
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
