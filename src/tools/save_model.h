// The options of commands that write a model. The file's extension determines its format. If writing fails,
// no file is left.
#pragma once
#include <string>

#include "ir/graph.h"
#include "tools/args.h"

namespace tern::tools {

class SaveOptions {
 public:
  void Declare(Args& args, const std::string& doc);
  bool wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  // Fails if the format is unknown, if an option does not apply to the format, or if the output is the file
  // `source`. Commands call this before they load the model.
  Status Check(const std::string& source) const;
  // Writes the graph. `source` is the file that the graph was loaded from. A written .tern file stores the
  // checksum of `source`. Returns the number of nodes in the written file. For an ONNX file, this number may
  // differ from the number of nodes of the graph.
  Result<int64_t> Save(const Graph& graph, const std::string& source) const;

  bool contrib = false;  // see onnx::ExportOptions

 private:
  std::string path_;
  bool external_ = false;
};

}  // namespace tern::tools
