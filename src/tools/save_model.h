// Writes a model in the format of the file's extension. A failure leaves no file.
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
  // Checks before any work that the format is known, that the options fit it, and that the output is not
  // `source` itself.
  Status Check(const std::string& source) const;
  // source: the file of the graph; a .tern file records its checksum. Returns the number of nodes in the
  // file. A Tern op may be several ONNX operators, and the reverse.
  Result<int64_t> Save(const Graph& graph, const std::string& source) const;

  bool contrib = false;  // see onnx::ExportOptions

 private:
  std::string path_;
  bool external_ = false;
};

}  // namespace tern::tools
