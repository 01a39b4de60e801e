// The weights of an exported program, and the list of its outputs.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/unique_names.h"
#include "import/torch/archive.h"
#include "ir/graph.h"

namespace tern::torch {

struct Weight {
  Tensor tensor;
  bool complex = false;
};

// The parameters, buffers and constants of a program.
class Weights {
 public:
  virtual ~Weights() = default;
  virtual Result<Weight> Find(const std::string& path) = 0;
};
// `model` is the name of the program in the archive; empty for the archives of torch 2.7 and older.
Result<std::unique_ptr<Weights>> OpenWeights(const Archive& archive, const std::string& model);

// Collects the outputs of a graph. Each output becomes a distinct value. It has the given name, with a suffix
// if an earlier output has the same name.
class OutputList {
 public:
  // The graph must have all its inputs.
  explicit OutputList(Graph& graph);
  Status Add(Value* value, std::string name);
  // Adds an output whose name also differs from the names of the graph's inputs.
  Status AddKeyed(Value* value, const std::string& key);
  int size() const { return static_cast<int>(outputs_.size()); }
  Status Finish();

 private:
  Status Append(Value* value, std::string name);

  Graph& graph_;
  std::set<std::string> inputs_;  // their names
  std::set<const Value*> taken_;
  UniqueNames names_;
  std::vector<Value*> outputs_;
};

}  // namespace tern::torch
