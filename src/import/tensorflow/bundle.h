// Reads a variables bundle: an index (a LevelDB table) and shards with the bytes of the tensors.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

class Bundle {
 public:
  // Opens PREFIX.index, such as "model/variables/variables.index". Shards are opened when they are needed.
  static Result<std::unique_ptr<Bundle>> Open(const std::string& prefix);

  bool Has(const std::string& key) const { return entries_.count(key) > 0; }
  // Reads a tensor. Numbers are views of the mapped shard if their alignment permits, and their checksum is
  // checked. A complex tensor has float elements and a last axis of 2.
  Result<Tensor> Read(const std::string& key);
  // Returns the key of the variable with this name, or an empty string. Searches the object graph that TF2
  // stores, then tries the name itself, then the name with the suffix /.ATTRIBUTES/VARIABLE_VALUE.
  std::string KeyOf(const std::string& variable);

 private:
  Result<Buffer> Bytes(const std::string& key, const pb::BundleEntryProto& entry);
  void ReadObjectGraph();

  std::string prefix_;
  int shards_ = 1;
  std::map<std::string, pb::BundleEntryProto> entries_;
  std::vector<Buffer> files_;  // one per shard, undefined until it is opened
  bool object_graph_read_ = false;
  std::map<std::string, std::string> keys_;  // variable → key, from the object graph
};

}  // namespace tern::tensorflow
