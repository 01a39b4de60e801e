// One attempt to rewrite a graph at one node. New nodes go before the root; nothing is changed until Replace.
#pragma once
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "passes/rewrite/facts.h"

namespace tern {

class Rewrite {
 public:
  // rule: its name, which must outlive the attempt.
  Rewrite(Node& root, const std::string& rule) : root_(root), rule_(rule) {}
  ~Rewrite();
  Rewrite(const Rewrite&) = delete;

  Node& root() const { return root_; }
  Graph& graph() const { return *root_.graph; }

  // Says no, and why.
  template <class... A> bool Skip(const A&... reason) {
    if (explain_) why_ = StrCat(reason...);
    return false;
  }

  // Emission. A node that reads constants only is computed at once, or the rewrite is refused where that is
  // too much work, or where finite constants give one that is not (f16 ends at 65504). Absent inputs at the
  // end are dropped.
  Value* Const(Tensor tensor);
  Value* Ints(const std::vector<int64_t>& values) { return Const(Tensor::Ints(values)); }
  Value* Scalar(DType dtype, double v) { return Const(Tensor::Scalar(dtype, v)); }
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  Value* Op(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs);
  std::vector<Value*> Ops(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs);

  // The nodes of a nested graph; its inputs stand for these. Returns its outputs.
  std::vector<Value*> Inline(const Graph& body, const std::vector<Value*>& inputs);

  // The root's outputs, in order, are read from these instead; null: that output has no reader. False, with
  // all emitted nodes taken back, when this would change a type or the name of an output of the graph.
  bool Replace(const std::vector<Value*>& values) { return ReplaceOutputs(root_, values); }
  bool Replace(Value* value) { return Replace(std::vector<Value*>{value}); }
  // The same for another node of the graph, which must come before the root, and whose readers all come
  // after it.
  bool ReplaceOutputs(Node& node, const std::vector<Value*>& values);
  // All of these at once, or none: first is read from second instead. The root must lose all its readers;
  // other nodes that do must come behind it, so that the new nodes stand before their readers.
  bool ReplaceValues(const std::vector<std::pair<Value*, Value*>>& pairs);

  // For the driver.
  void DropUnread();  // what was emitted and not needed after all: a part of an inlined graph, say
  void Explain() { explain_ = true; }
  bool explains() const { return explain_; }
  const std::string& why() const { return why_; }
  const Status& status() const { return status_; }  // the rule is wrong: names it
  const std::vector<Node*>& emitted() const { return emitted_; }
  bool leaves_dead() const { return leaves_dead_; }  // nodes beside the root that nobody reads
  bool done() const { return done_; }
  size_t constant_bytes() const { return constant_bytes_; }  // of all constants made, read or not

 private:
  bool Fits(const Value& old, Value& value);
  bool OneNameEach(const std::vector<std::pair<Value*, Value*>>& pairs);
  void Rename(const Value& old, Value& value);
  void TakeBack();

  Node& root_;
  const std::string& rule_;
  std::vector<Node*> emitted_;
  std::vector<Value*> fresh_;
  bool explain_ = false, done_ = false, leaves_dead_ = false;
  size_t constant_bytes_ = 0;
  const char* refusal_ = nullptr;  // why the constants may not be computed ahead
  std::string why_;
  Status status_;
};

// Removes the node and, going up, every node that nobody reads any more.
void RemoveUnread(Node& node);

}  // namespace tern
