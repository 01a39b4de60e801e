#include "tools/save_model.h"

#include <filesystem>

#include "data/file.h"
#include "export/onnx/exporter.h"
#include "ir/tern_file.h"

namespace fs = std::filesystem;

namespace tern::tools {
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

void SaveOptions::Declare(Args& args, const std::string& doc) {
  args.Option("-o,--output", path_, "OUT", doc);
  args.Flag("--external-data", external_, "store an .onnx model's weights in OUT.data");
}

Status SaveOptions::Check(const std::string& source) const {
  if (external_ && !EndsWith(path_, ".onnx"))
    return InvalidArgument("--external-data is for an .onnx output, got '", path_, "'");
  if (!wanted()) return {};
  if (!EndsWith(path_, ".tern") && !EndsWith(path_, ".onnx"))
    return InvalidArgument("'", path_, "': the output's name must end in .tern or .onnx");
  std::error_code ignored;
  if (fs::equivalent(source, path_, ignored)) return InvalidArgument("'", path_, "' is the input itself");
  if (external_ && fs::is_symlink(path_))
    return InvalidArgument("'", path_,
                           "' is a symbolic link, but --external-data writes a second file beside the ",
                           "output; use the path that the link refers to");
  return {};
}

Result<int64_t> SaveOptions::Save(const Graph& graph, const std::string& source) const {
  TERN_ASSIGN(data::Staging staging, data::Staging::Beside(path_));
  Result<int64_t> nodes = graph.NodeCount();
  if (EndsWith(path_, ".onnx"))
    nodes = onnx::ExportFile(graph, staging.path(), {external_, contrib});
  else if (Status saved = SaveTern(graph, staging.path(), SourceHash(source)); !saved.ok())
    nodes = std::move(saved);
  if (!nodes.ok())
    return Renamed(nodes.TakeStatus(), staging.path(), path_).While(StrCat("writing '", path_, "'"));
  TERN_TRY(staging.Commit());
  return nodes;
}

}  // namespace tern::tools
