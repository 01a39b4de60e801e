// Variables and tables, to which operators of a model refer by handles.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "ir/graph.h"

namespace tern::tflite {

// Each resource has a number. A tensor of type resource stands for this number.
struct Resource {
  std::string name;
  bool table = false;
  // For a table: its contents, which are constants. They are set when the table is filled.
  DType key_type = DType::kInvalid, value_type = DType::kInvalid;
  Tensor keys, values;
  // For a variable: the type of its value, if an operator states it. `changes` is true if a run may assign
  // the variable outside of an initialization (CALL_ONCE).
  Type type;
  bool changes = false;
  Value* past = nullptr;  // the state's input
};

class Resources {
 public:
  // Returns the number of the resource with this name. Creates the resource if it does not exist.
  int Number(const std::string& name);
  Resource& at(int number) { return all_[static_cast<size_t>(number)]; }
  int size() const { return static_cast<int>(all_.size()); }

 private:
  std::vector<Resource> all_;
};

// The current values of variables in one graph. In a nested graph, a variable initially has its value from
// the enclosing graph.
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
