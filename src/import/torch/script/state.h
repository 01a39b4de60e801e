// The values that a TorchScript file stores: modules with their parameters, and constants of the code.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>

#include "import/torch/archive.h"
#include "import/torch/script/interpreter.h"
#include "import/torch/script/pickle.h"

namespace tern::torch::script {

// The tensors of an archive. Tensors with the same storage, type, offset, dims and strides share memory.
class Weights {
 public:
  explicit Weights(const Archive& archive) : archive_(archive) {}
  // `folder` is "data" or "constants".
  Result<Tensor> Read(const Pickled& tensor, const std::string& folder);
  static std::string KeyOf(const Pickled& tensor, const std::string& folder);

 private:
  const Archive& archive_;
  std::map<std::string, Buffer> storages_;
  std::map<std::string, Tensor> tensors_;
};

// Restores the classes of named tuples, which pickles do not store.
class TypeApplier {
 public:
  explicit TypeApplier(Interpreter& interpreter) : in_(interpreter) {}
  // `type` is the type that the code declares for the item.
  Status Apply(Item& item, const Expr& type);

 private:
  Interpreter& in_;
  std::set<std::pair<const Cell*, const Expr*>> done_;
};

// Converts unpickled data to items. Tensors become constants of the graph.
class StateReader {
 public:
  StateReader(Interpreter& interpreter, Weights& weights, std::string folder)
      : in_(interpreter), weights_(weights), folder_(std::move(folder)), types_(interpreter) {}

  // `path` names the value: "encoder.layers.0".
  Result<Item> Read(const Pickled& data, const std::string& path, int depth = 0);

 private:
  Result<Item> ReadContainer(const Pickled& data, const std::string& path, int depth);
  Result<Item> ReadObject(const Pickled& data, const std::string& path, int depth);
  Result<Item> ReadTensor(const Pickled& data, const std::string& path);
  Result<Item> ReadEnum(const Pickled& data);

  Interpreter& in_;
  Weights& weights_;
  std::string folder_;
  TypeApplier types_;
  std::map<const Pickled*, Item> done_;
  std::map<const Pickled*, bool> busy_;
  std::map<std::string, TensorPtr> tensors_;
};

}  // namespace tern::torch::script
