// The argument of an op's Infer function. Contains the types, constants and symbolic contents of the inputs,
// and the output types to set.
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/type.h"
#include "ir/op_def.h"

namespace tern {

// The elements of a small integer tensor (rank 0 or 1) as symbolic expressions, such as a shape that a
// Reshape reads.
using Content = std::vector<Dim>;

struct InferInput {
  bool present = false;
  Type type;
  Tensor constant;                 // defined if the value is constant
  std::optional<Content> content;  // symbolic elements; need not be set for constants
};

struct InferOutput {
  Type type;
  std::optional<Content> content;
};

class InferContext {
 public:
  // Infers a subgraph's output types from its input types.
  using SubgraphInfer =
      std::function<Result<std::vector<Type>>(int subgraph, const std::vector<Type>& inputs)>;

  InferContext(const OpDef& op, std::vector<InferInput> inputs, int outputs, SubgraphInfer subgraphs = {});

  int InputCount() const { return static_cast<int>(inputs_.size()); }
  int OutputCount() const { return static_cast<int>(outputs_.size()); }
  bool Has(int i) const { return i < InputCount() && inputs_[static_cast<size_t>(i)].present; }
  bool Has(std::string_view port) const { return Has(op_.InputIndex(port)); }
  bool Wants(std::string_view port) const { return op_.OutputIndex(port) < OutputCount(); }

  // Return the type of an input. An absent input has an unknown type.
  const Type& In(int i) const;
  const Type& In(std::string_view port) const { return In(op_.InputIndex(port)); }
  DType TypeOf(std::string_view port) const { return In(port).dtype; }
  const Shape& ShapeOf(std::string_view port) const { return In(port).shape; }
  // Return the data of an input if it is constant, or null if it is not.
  const Tensor* Constant(int i) const;
  const Tensor* Constant(std::string_view port) const { return Constant(op_.InputIndex(port)); }
  // Return the elements of a small integer input as expressions, or nullopt if the elements are not known.
  std::optional<Content> ContentOf(int i) const;
  std::optional<Content> ContentOf(std::string_view port) const { return ContentOf(op_.InputIndex(port)); }
  // Returns all elements as numbers. Returns nullopt if an element is unknown.
  std::optional<std::vector<int64_t>> LongsOf(std::string_view port) const;

  void Out(int i, Type type);  // does nothing if the node has no output i
  void Out(std::string_view port, Type type) { Out(op_.OutputIndex(port), std::move(type)); }
  void Out(std::string_view port, DType dtype, Shape shape) {
    Out(port, Type::TensorOf(dtype, std::move(shape)));
  }
  void OutContent(std::string_view port, Content content);

  Result<std::vector<Type>> InferSubgraph(int i, const std::vector<Type>& inputs);

  const OpDef& op() const { return op_; }
  std::vector<InferOutput>& outputs() { return outputs_; }
  // Returns the inputs for messages, for example "x f32[2,3]   w f32[4]".
  std::string DescribeInputs() const;

 private:
  const OpDef& op_;
  std::vector<InferInput> inputs_;
  std::vector<InferOutput> outputs_;
  SubgraphInfer subgraphs_;
};

// Checks the number of inputs and outputs and the element types against the op's declaration, then calls the
// op's Infer. Errors name the port and its type.
Status RunInfer(const OpDef& op, const Attrs& attrs, InferContext& context);

// Helpers for Infer functions. Maps an axis in [-rank, rank) to [0, rank). Fails if the axis is out of
// range.
Result<int> NormalizeAxis(int64_t axis, int rank);
// Broadcasts like numpy. If two dims differ and neither is a number, the result is an unknown dim. There are
// two exceptions. N and max(0, N) broadcast to N, and N and min(N, 8) broadcast to N.
Result<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace tern
