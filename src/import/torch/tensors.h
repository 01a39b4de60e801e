// The tensors of a PyTorch program. Several of them may share a storage, and operators may write to a
// storage. This file turns such programs into graphs of values that never change: a write gives the storage a
// new value, and a view of the storage is computed again from that value when the view is read next.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "import/torch/arg.h"
#include "ir/builder.h"

namespace tern::torch {

class TorchContext;

// How a view is computed from its base.
struct ViewOf {
  TensorPtr base;
  // Computes the view of a value that has the dims of the base.
  std::function<Result<Value*>(Value* base)> apply;
  // Returns the base with the elements of the view replaced. If null, writes use ScatterView (slower).
  std::function<Result<Value*>(Value* base, Value* view)> put;
};

// A tensor variable. Variables that share a storage form a tree of views, whose root owns the storage.
class TensorVar : public std::enable_shared_from_this<TensorVar> {
 public:
  explicit TensorVar(Value* value) : value_(value) {}
  TensorVar(Value* value, ViewOf view);
  ~TensorVar();
  TensorVar(const TensorVar&) = delete;
  TensorVar& operator=(const TensorVar&) = delete;

  const TensorVar& root() const;
  TensorVar& root();
  bool is_view() const { return view_.base != nullptr; }
  // The element type and the shape never change.
  const Type& type() const { return value_->type; }
  // The value is float [..., 2] with the real and the imaginary parts of a complex tensor.
  bool complex = false;
  // Whether PyTorch stores the elements in row-major order. If so, `reshape` and `contiguous` return a view.
  bool dense = true;
  // A number that increases with each write to the storage.
  int64_t writes() const { return root().version_; }

 private:
  friend class TorchContext;
  Value* value_;
  // For a root: the number of its last write. For a view: the root's version from which value_ was computed.
  int64_t version_ = 0;
  ViewOf view_;
};

// The context of an import: the graph that receives nodes, and the current values of tensors.
class TorchContext {
 public:
  TorchContext(Graph& graph, std::vector<std::string>* warnings) : graph_(&graph), warnings_(warnings) {}

  Graph& graph() { return *graph_; }
  void Warn(std::string sentence);

  static TensorPtr NewTensor(Value* value) { return std::make_shared<TensorVar>(value); }
  // Returns the tensor's current value.
  Result<Value*> Read(TensorVar& tensor, Builder& b);
  // Writes a value with the same element type and shape to the tensor, and so to the storage of its root.
  Status Write(TensorVar& tensor, Value* value, Builder& b);

  // While a Scope exists, new nodes are added to the nested graph `inner`. The destructor returns to the
  // outer graph and undoes all writes and cached views of the scope, because values of the nested graph are
  // not visible outside.
  class Scope {
   public:
    Scope(TorchContext& context, Graph& inner);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    struct Written {
      TensorPtr root;
      Value* value;  // the last value of the storage in the nested graph
    };
    // Returns the storages that existed before the scope and were written in it, in order of their first
    // write. The caller makes their values outputs of the nested graph, and writes the node's outputs to the
    // roots after the scope.
    std::vector<Written> WrittenRoots() const;

   private:
    friend class TorchContext;
    struct Saved {
      TensorPtr tensor;
      Value* value;
      int64_t version;
    };
    TorchContext& context_;
    Graph* outer_graph_;
    Scope* outer_scope_;
    std::vector<Saved> saved_;  // in order; the first entry of a tensor has its state before the scope
  };

 private:
  void Set(TensorVar& tensor, Value* value, int64_t version);
  Graph* graph_;
  Scope* scope_ = nullptr;
  int64_t last_version_ = 0;
  std::vector<std::string>* warnings_;
};

// Returns `base` with the elements of a view replaced by `view`. To find these elements, applies the view
// function to the positions of base's elements, so that it works for any view.
Result<Value*> ScatterView(Builder& b, Value* base, Value* view,
                           const std::function<Result<Value*>(Value*)>& apply);

}  // namespace tern::torch
