// The questions that passes, plans and reports ask about an op, and the shapes of the answers. Each op
// answers in its own file (ir/op_def.h, OpDef::Builder); what follows from its traits is filled in by AddOp.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tern {

class AxisRenaming;  // ir/axis_map.h
class BatchItems;    // ir/batch_items.h
class Node;
struct StaticNode;  // ir/static_node.h

// The answer "no", with the reason: .Batch(No{"sorts along all axes"}).
struct No {
  const char* reason;
};
// For an op that the reference evaluator runs: nobody would gain. A test fails when it has kernels after all.
inline constexpr No kNoKernel{"no kernel"};

// An answer: a function, or no with the reason. An op that gives neither fails ops/op_answers_test.cc.
template <class F> class Answer {
 public:
  Answer() = default;
  Answer(No no) : reason_(no.reason) {}  // NOLINT
  template <class R, class = std::enable_if_t<std::is_constructible_v<std::function<F>, R>>>
  Answer(R rule) : rule_(std::move(rule)) {}  // NOLINT

  bool given() const { return rule_ || reason_; }
  explicit operator bool() const { return static_cast<bool>(rule_); }
  const char* reason() const { return reason_; }  // why not; null for a function
  template <class... A> auto operator()(A&&... a) const { return rule_(std::forward<A>(a)...); }

 private:
  std::function<F> rule_;
  const char* reason_ = nullptr;
};

// An op that moves data: its results hold elements of its data inputs, unchanged.
struct Movement {
  enum class Amount : uint8_t { kSame, kFewer, kMore, kAny };  // elements of the results against the data's
  enum class Border : uint8_t { kNone, kConstant, kInput };    // what else the results hold
  Amount amount = Amount::kSame;
  Border border = Border::kNone;
  int first = 0;          // the first data input
  int count = 1;          // how many data inputs; kAllInputs: the rest
  int border_input = -1;  // kInput: which input holds the border's element

  static constexpr int kAllInputs = -1;
  // Every element of the results is one of input 0.
  bool FirstInputOnly() const { return first == 0 && count == 1 && border == Border::kNone; }
};

// How the axes of a node's results follow from those of its operands.
struct AxisMap {
  enum class Operands : uint8_t {
    kFirst,      // results have the axes of input 0
    kBroadcast,  // all inputs broadcast to the result
    kJoined,     // all inputs have the result's rank and are joined along one axis
  };
  Operands operands = Operands::kFirst;
  // A Transpose may move through the node whatever its order. Otherwise only the layout pass reorders the
  // axes, from [batch, channels, spatial] to [batch, spatial, channels].
  bool any_order = true;
  std::vector<int64_t> dropped;  // axes of input 0 that the result lacks; negative: from the end
};

// What WidenHalf does with a node that has f16 or bf16 operands.
enum class HalfRule : uint8_t {
  kWiden,    // computes in f32 instead
  kMove,     // stays as it is, and follows its operand where that is f32 already
  kAnyType,  // reads a widened operand as it is
  kKeep,     // the bits or the rounding of the operands matter: they stay
};

using CountRule = std::optional<double>(const Node&);                      // nothing: a dim is not known
using BatchRule = bool(BatchItems&);                                       // false: not for these dims
using PieceRule = std::optional<std::vector<int64_t>>(const StaticNode&);  // nothing: not for these dims
using AxisRule = std::optional<AxisMap>(const Node&);                      // nothing: not for this node
using RenameRule = void(const Node&, AxisRenaming&);
using TypicalRule = int64_t(const StaticNode&, size_t input, size_t axis);

}  // namespace tern
