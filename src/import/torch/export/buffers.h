// The parameters, buffers and constants of an exported program, as values of the graph. Those that the
// program writes become states, which a session keeps between runs.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/torch/export/graph_reader.h"
#include "import/torch/export/state.h"

namespace tern::torch {

class Buffers {
 public:
  explicit Buffers(Weights& weights) : weights_(weights) {}

  // Starts an import into a new graph. Buffers that are known to be written stay known.
  void Restart();
  // Says that the program writes the buffer. Must come before its Add.
  void MarkWritten(const std::string& path) { written_.insert(path); }

  // Adds a constant, or the past of a state if the buffer is written.
  Result<TensorPtr> Add(const std::string& path, Graph& out);
  // Sets the contents of the buffer after a run. This is for programs that return these contents as an
  // output.
  void SetResult(const std::string& path, Value* value) { results_[path] = value; }

  // Marks the buffers that nodes wrote although they were added as constants. Returns false if there are such
  // buffers. The caller must then repeat the import.
  bool AllKnown();
  // Adds the states and their outputs.
  Status AddStates(TorchContext& context, Graph& out, OutputList& outputs);

 private:
  struct Kept {
    std::string path;
    TensorPtr tensor;
    Value* past = nullptr;  // of a state
  };
  Result<Value*> StartValue(const std::string& path, Value* past, Tensor initial, Graph& out);

  Weights& weights_;
  std::set<std::string> written_;
  std::map<std::string, Value*> results_;
  std::vector<Kept> kept_;
  Value* started_ = nullptr;  // a state that is false in the first run; null if no buffer needs it
};

}  // namespace tern::torch
