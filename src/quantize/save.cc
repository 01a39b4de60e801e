#include "quantize/save.h"

#include <filesystem>

#include "data/file.h"
#include "export/onnx/exporter.h"
#include "ir/tern_file.h"

namespace fs = std::filesystem;

namespace tern::quantize {
namespace {

// Returns the checksum of the source file, which a written .tern file stores. If the source is a .tern file,
// returns the checksum that it stores. Returns 0 for other files of more than 256 MiB, because it would take
// long to read them again.
uint64_t SourceHash(const std::string& path) {
  if (auto known = SourceHashOf(path); known.ok()) return *known;
  std::error_code error;
  constexpr uintmax_t kMax = uintmax_t{256} << 20;
  if (fs::file_size(path, error) > kMax || error) return 0;
  auto bytes = data::ReadFile(path);
  return bytes.ok() ? Checksum(bytes->data(), bytes->size()) : 0;
}

// Replaces the temporary file's name in a message by the requested name.
Status Renamed(Status status, const std::string& staged, const std::string& path) {
  std::string text = status.message();
  const size_t at = text.find(staged);
  return at == std::string::npos ? status : Status(status.code(), text.replace(at, staged.size(), path));
}

}  // namespace

Status CheckTarget(const std::string& path, const std::string& source) {
  if (!EndsWith(path, ".tern") && !EndsWith(path, ".onnx"))
    return InvalidArgument("'", path, "': the output's name must end in .tern or .onnx");
  std::error_code ignored;
  if (fs::equivalent(source, path, ignored)) return InvalidArgument("'", path, "' is the input itself");
  return {};
}

Result<int64_t> SaveModel(const Graph& graph, const std::string& path, const std::string& source,
                          const SaveFormat& format) {
  TERN_ASSIGN(data::Staging staging, data::Staging::Beside(path));
  Result<int64_t> nodes = graph.NodeCount();
  if (EndsWith(path, ".onnx"))
    nodes = onnx::ExportFile(graph, staging.path(), {format.external_data, format.contrib});
  else if (Status saved = SaveTern(graph, staging.path(), SourceHash(source)); !saved.ok())
    nodes = std::move(saved);
  if (!nodes.ok())
    return Renamed(nodes.TakeStatus(), staging.path(), path).While(StrCat("writing '", path, "'"));
  TERN_TRY(staging.Commit());
  return nodes;
}

}  // namespace tern::quantize
