// Writes a model; the extension says in which format. A failure leaves no file.
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
  // Before any work is done: a format that is known, options that fit it, and not the model `source` itself.
  Status Check(const std::string& source) const;
  // source: the file that the graph came from, which a .tern remembers.
  // The number of nodes in the file: an op of Tern's may be several of ONNX's, and the other way round.
  Result<int64_t> Save(const Graph& graph, const std::string& source) const;

  bool contrib = false;  // what onnx::ExportOptions says

 private:
  std::string path_;
  bool external_ = false;
};

}  // namespace tern::tools
