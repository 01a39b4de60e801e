// One attempt to rewrite a graph at one node. New nodes are inserted before the root. Existing nodes do not
// change until Replace. The destructor removes the new nodes of a failed attempt.
#pragma once
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "passes/rewrite/facts.h"

namespace tern {

class Rewrite {
 public:
  // `rule` is the rule's name. The string must outlive the attempt.
  Rewrite(Node& root, const std::string& rule) : root_(root), rule_(rule) {}
  ~Rewrite();
  Rewrite(const Rewrite&) = delete;

  Node& root() const { return root_; }
  Graph& graph() const { return *root_.graph; }

  // Returns false and stores the reason for --why-not.
  template <class... A> bool Skip(const A&... reason) {
    if (explain_) why_ = StrCat(reason...);
    return false;
  }

  // These functions emit constants and nodes. A node that reads constants only is folded at once. The rewrite
  // fails if folding is too costly (kMaxConstantWork), or if the result is not finite although the constants
  // are finite. For example, a product in f16 overflows above 65504. Trailing null inputs are dropped.
  Value* Const(Tensor tensor);
  Value* Ints(const std::vector<int64_t>& values);
  Value* Scalar(DType dtype, double v);
  Value* Op(const char* op, const std::vector<Value*>& inputs, const AttrList& attrs = {});
  Value* Op(const char* op, std::initializer_list<Value*> inputs, const AttrList& attrs = {});
  Value* Op(const OpDef& op, const Attrs& attrs, const std::vector<Value*>& inputs);
  Value* Op(const OpDef& op, const Attrs& attrs, std::initializer_list<Value*> inputs);
  std::vector<Value*> Ops(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs);

  // Copies the nodes of a nested graph to the graph of the root, with `inputs` in place of its inputs.
  // Returns the copies of its outputs.
  std::vector<Value*> Inline(const Graph& body, const std::vector<Value*>& inputs);

  // Makes readers of the root's outputs read these values. A value may be null if its output has no readers.
  // Returns false and removes all emitted nodes when a type or the name of a graph output would change, when
  // two graph outputs would become one value, or when folding failed or a new node is refused (RefuseHalf).
  bool Replace(const std::vector<Value*>& values) { return ReplaceOutputs(root_, values); }
  bool Replace(Value* value);
  // Like Replace, for another node of the graph. The node must come before the root, and all its readers must
  // come after the root.
  bool ReplaceOutputs(Node& node, const std::vector<Value*>& values);
  // For each pair, makes the readers of the first value read the second value. If one pair cannot be
  // replaced, replaces none and returns false. The root must lose all its readers. Every reader of a replaced
  // value, except the root, must come after the root, because new nodes are inserted before the root and must
  // precede their readers.
  bool ReplaceValues(const std::vector<std::pair<Value*, Value*>>& pairs);

  // For the driver.
  void DropUnread();  // removes emitted nodes without readers, such as parts of an inlined graph
  void RefuseHalf() { refuse_half_ = true; }  // see ComputesInHalf (passes/widen/half_node.h)
  void Explain() { explain_ = true; }
  bool explains() const { return explain_; }
  const std::string& why() const { return why_; }
  const Status& status() const { return status_; }  // an error in the rule; the message names the rule
  const std::vector<Node*>& emitted() const { return emitted_; }
  // True if nodes other than the root may have lost their readers.
  bool leaves_dead() const { return leaves_dead_; }
  bool done() const { return done_; }
  size_t constant_bytes() const { return constant_bytes_; }  // total size of all emitted constants

 private:
  bool Fits(const Value& old, Value& value);
  bool KeepsHalvesWide();
  bool DistinctOutputs(const std::vector<std::pair<Value*, Value*>>& pairs);
  void Rename(const Value& old, Value& value);
  void Rollback();

  Node& root_;
  const std::string& rule_;
  std::vector<Node*> emitted_;
  std::vector<Value*> fresh_;
  bool explain_ = false, done_ = false, leaves_dead_ = false, refuse_half_ = false;
  size_t constant_bytes_ = 0;
  const char* refusal_ = nullptr;  // if not null, why Replace must fail
  std::string why_;
  Status status_;
};

// Removes the node. Also removes producers of its inputs that have no other readers, their producers, and so
// on.
void RemoveUnread(Node& node);

}  // namespace tern
