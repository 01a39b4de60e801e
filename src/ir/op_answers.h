// Types of the answers of an op. An answer is a property of the op that passes, plans and reports query. The
// source file of the op defines its answers (OpDef::Builder in ir/op_def.h). AddOp derives missing answers
// from the op's traits.
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

// The answer "no" and its reason, for example .Batch(No{"sorts along all axes"}).
struct No {
  const char* reason;
};
// The answer of an op without kernels. Only the reference evaluator runs such an op, so no pass or plan needs
// the answer. A test fails if an op with kernels gives this answer.
inline constexpr No kNoKernel{"no kernel"};

// A function, or "no" with a reason. ops/op_answers_test.cc fails if an op has neither. The constructors are
// defined in op_answers.cc, so that the sources of ops need not compile them.
template <class F> class Answer {
 public:
  Answer();
  Answer(No no);  // NOLINT
  Answer(const Answer&);
  Answer(Answer&&) noexcept;
  Answer& operator=(const Answer&);
  Answer& operator=(Answer&&) noexcept;
  ~Answer();
  template <class R, class = std::enable_if_t<std::is_constructible_v<std::function<F>, R>>>
  Answer(R rule) : rule_(std::move(rule)) {}  // NOLINT

  bool given() const { return rule_ || reason_; }
  explicit operator bool() const { return static_cast<bool>(rule_); }
  const char* reason() const { return reason_; }  // null if the answer is a function
  template <class... A> auto operator()(A&&... a) const { return rule_(std::forward<A>(a)...); }

 private:
  std::function<F> rule_;
  const char* reason_ = nullptr;
};

// Describes an op that only copies elements of its data inputs to its results.
struct Movement {
  // Compares the number of elements of the results with that of the data inputs.
  enum class Amount : uint8_t { kSame, kFewer, kMore, kAny };
  // The source of all other elements of the results, such as the padding of a Pad.
  enum class Border : uint8_t { kNone, kConstant, kInput };
  Amount amount = Amount::kSame;
  Border border = Border::kNone;
  int first = 0;          // the first data input
  int count = 1;          // number of data inputs; kAllInputs means all inputs from `first` on
  int border_input = -1;  // if `border` is kInput, the input that contains the element

  static constexpr int kAllInputs = -1;
  // True if every element of the results is an element of input 0.
  bool FirstInputOnly() const { return first == 0 && count == 1 && border == Border::kNone; }
};

// How the axes of a node's results map to those of its operands.
struct AxisMap {
  enum class Operands : uint8_t {
    kFirst,      // results have the axes of input 0
    kBroadcast,  // all inputs broadcast to the result
    kJoined,     // all inputs have the result's rank and are concatenated along one axis
  };
  Operands operands = Operands::kFirst;
  // If true, any Transpose may move through the node. If false, only the layout pass may reorder the axes,
  // from [batch, channels, spatial] to [batch, spatial, channels].
  bool any_order = true;
  std::vector<int64_t> dropped;  // axes of input 0 that the result lacks; negative axes count from the end
};

// What the WidenHalf pass does with a node that has f16 or bf16 operands.
enum class HalfRule : uint8_t {
  kWiden,    // compute in f32 instead
  kMove,     // copy f32 if the operand is already widened, else keep the type
  kAnyType,  // read a widened operand without a cast
  kKeep,     // keep the operands' type, because their bits or rounding matter
};

using CountRule = std::optional<double>(const Node&);                      // nullopt if a dim is unknown
using BatchRule = bool(BatchItems&);                                       // false if the answer is "no"
using SliceRule = std::optional<std::vector<int64_t>>(const StaticNode&);  // nullopt if the answer is "no"
using AxisRule = std::optional<AxisMap>(const Node&);                      // nullopt if the answer is "no"
using RenameRule = void(const Node&, AxisRenaming&);
using TypicalRule = int64_t(const StaticNode&, size_t input, size_t axis);

}  // namespace tern
