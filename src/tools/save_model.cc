#include "tools/save_model.h"

#include <filesystem>

#include "quantize/save.h"

namespace fs = std::filesystem;

namespace tern::tools {

void SaveOptions::Declare(Args& args, const std::string& doc) {
  args.Option("-o,--output", path_, "OUT", doc);
  args.Flag("--external-data", external_, "store an .onnx model's weights in OUT.data");
}

Status SaveOptions::Check(const std::string& source) const {
  if (external_ && !EndsWith(path_, ".onnx"))
    return InvalidArgument("--external-data is for an .onnx output, got '", path_, "'");
  if (!wanted()) return {};
  TERN_TRY(quantize::CheckTarget(path_, source));
  if (external_ && fs::is_symlink(path_))
    return InvalidArgument("'", path_,
                           "' is a symbolic link, but --external-data writes a second file beside the ",
                           "output; use the path that the link refers to");
  return {};
}

Result<int64_t> SaveOptions::Save(const Graph& graph, const std::string& source) const {
  return quantize::SaveModel(graph, path_, source, {external_, contrib});
}

}  // namespace tern::tools
