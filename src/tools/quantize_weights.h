// Options of tern quantize that need no calibrated activations. --weights quantizes only the weights.
// --dynamic also rounds the rows that are multiplied with the weights, in every run.
#pragma once
#include <string>
#include <vector>

#include "compress/quantize/samples.h"
#include "compress/weights/weight_only.h"
#include "tools/args.h"
#include "tools/save_model.h"

namespace tern::tools {

class WeightFlags {
 public:
  void Declare(Args& args);
  // Returns whether the command line has --weights or --dynamic.
  bool wanted() const { return !weights_.empty() || dynamic_; }
  Status Check(const Args& args) const;
  // Quantizes the graph, writes it and prints a report. `samples` may be null.
  Result<int> Run(Graph& graph, const std::string& model, compress::Samples* samples,
                  const std::vector<std::string>& keep, int64_t threads, const SaveOptions& out,
                  bool json) const;

 private:
  Status CheckUnused(const Args& args) const;

  std::string weights_, method_ = "nearest";
  int64_t block_ = -1;  // -1 if not given
  bool dynamic_ = false;
};

}  // namespace tern::tools
