// Variables and tables: things that operators of a model refer to by handles.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "ir/graph.h"

namespace tern::tflite {

// A resource has a number, which the tensors of type resource stand for.
struct Resource {
  std::string name;
  bool table = false;
  // Of a table: constants, once the table is filled.
  DType key_type = DType::kInvalid, value_type = DType::kInvalid;
  Tensor keys, values;
  // Of a variable: the type of its value, if an operator states it. `changes` says whether a run may assign
  // it, except in an initialization (CALL_ONCE).
  Type type;
  bool changes = false;
  Value* past = nullptr;  // the state's input
};

class Resources {
 public:
  // Returns the number of the resource with this name, which is made if it does not exist.
  int Number(const std::string& name);
  Resource& at(int number) { return all_[static_cast<size_t>(number)]; }
  int size() const { return static_cast<int>(all_.size()); }

 private:
  std::vector<Resource> all_;
};

// The current values of variables in one graph. A graph of control flow starts with those of the graph around
// it.
class Variables {
 public:
  explicit Variables(const Variables* outer = nullptr) : outer_(outer) {}
  Value* Find(int resource) const;  // null if the variable has no value yet
  void Set(int resource, Value* value) { current_[resource] = value; }
  const std::map<int, Value*>& own() const { return current_; }

 private:
  const Variables* outer_;
  std::map<int, Value*> current_;
};

}  // namespace tern::tflite
