// The declaration of an op: name, inputs, outputs and properties. Each op has one file under src/ops.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/attrs.h"
#include "ir/op_answers.h"

namespace tern {

class InferContext;
class EvalContext;

enum Trait : uint32_t {
  kPure = 1,         // equal inputs give equal outputs; may be folded, merged, removed
  kElementwise = 2,  // output element i depends on (broadcast) input element i only
  kInPlace = 4,      // the first output may overwrite the first input of the same type
  kView = 8,         // the output is the first input's bytes with other dims
  kCommutative = 16,
  kControlFlow = 32,  // runs subgraphs
  kRandom = 64,       // results differ between runs
  kHostOnly = 128,    // works on sequences, strings or maps; never runs on a device
  kMovesData = 256,   // computes no numbers: elements of the results are elements of inputs, 0 or 1
  kReadsDims = 512,   // the results depend on the dims of input 0, not on its data
  kEpilogue = 1024,   // sums of products; inputs 2 and 3 are bias and residual, `activation` is applied last
};

struct Port {
  enum class Arity : uint8_t { kRequired, kOptional, kVariadic };
  enum class Role : uint8_t {
    kData,
    kWeight,   // kernels pack it once if it is constant; it is then a parameter of the model
    kSetting,  // axes, indices, shapes, bounds; a constant here is not a parameter
  };
  std::string name;
  DTypeSet types;  // 0: not a tensor (sequence, optional, map), or any type
  Arity arity = Arity::kRequired;
  Role role = Role::kData;
};

class OpDef {
 public:
  OpDef();
  OpDef(const OpDef&);
  OpDef(OpDef&&) noexcept;
  OpDef& operator=(const OpDef&);
  OpDef& operator=(OpDef&&) noexcept;
  ~OpDef();

  std::string name;
  std::string summary;
  std::string family;  // the folder under src/ops
  std::vector<Port> inputs, outputs;
  std::vector<std::string> subgraphs;  // their roles: then, else, body
  uint32_t traits = kPure;
  Attrs defaults;
  std::function<Status(const Attrs&, InferContext&)> infer;
  std::function<Status(const Attrs&, EvalContext&)> reference;
  std::optional<std::string> kind_prefix;  // see Builder::KindsAreNames

  // Answers; see the functions of Builder. AddOp derives further ones from the traits.
  Answer<CountRule> macs, flops;
  Answer<BatchRule> batch;
  Answer<AxisRule> axis_map;
  std::function<RenameRule> rename_axes;
  Answer<SliceRule> slices;
  std::function<SliceRule> joined_slices;
  Answer<TypicalRule> typical_dim;
  std::optional<Movement> movement;
  std::optional<HalfRule> half;
  std::function<bool(const Attrs&)> keeps_scale;

  bool Is(Trait t) const { return traits & t; }
  bool MovesData() const { return traits & (kMovesData | kView); }
  int WeightInput() const;                      // the first input of role kWeight; -1: none
  bool HasRole(int input, Port::Role r) const;  // false for an input without a port
  int InputIndex(std::string_view port) const;  // CHECKs that it exists
  int OutputIndex(std::string_view port) const;
  const Port& InputPort(int i) const;  // a trailing variadic port covers all further inputs
  const Port& OutputPort(int i) const;

  template <class T> class Builder;
  // OpDef::Of<LeakyRelu>("y = …").In("x", kFloats).Out("y", kFloats).Infer(Infer).Reference(Reference)
  template <class T> static Builder<T> Of(const char* summary) { return Builder<T>(summary); }
};

// What all builders share. Not inline: every op's file would compile it.
class OpDefBuilder {
 protected:
  OpDefBuilder(const char* summary, Attrs defaults);
  ~OpDefBuilder();
  void AddIn(const char* name, DTypeSet types, Port::Arity arity, Port::Role role = Port::Role::kData);
  void AddOut(const char* name, DTypeSet types, Port::Arity arity);
  void AddSubgraph(const char* role);
  OpDef def_;
};

template <class T> class OpDef::Builder : private OpDefBuilder {
 public:
  explicit Builder(const char* summary) : OpDefBuilder(summary, Attrs::Of(T{})) {}
  Builder& In(const char* name, DTypeSet types) { return AddIn(name, types, Port::Arity::kRequired), *this; }
  Builder& OptIn(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kOptional), *this;
  }
  Builder& VarIn(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kVariadic), *this;
  }
  // Inputs whose role is not data (Port::Role).
  Builder& Weight(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kRequired, Port::Role::kWeight), *this;
  }
  Builder& OptWeight(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kOptional, Port::Role::kWeight), *this;
  }
  Builder& Setting(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kRequired, Port::Role::kSetting), *this;
  }
  Builder& OptSetting(const char* name, DTypeSet types) {
    return AddIn(name, types, Port::Arity::kOptional, Port::Role::kSetting), *this;
  }
  Builder& Out(const char* name, DTypeSet types) {
    return AddOut(name, types, Port::Arity::kRequired), *this;
  }
  Builder& OptOut(const char* name, DTypeSet types) {
    return AddOut(name, types, Port::Arity::kOptional), *this;
  }
  Builder& VarOut(const char* name, DTypeSet types) {
    return AddOut(name, types, Port::Arity::kVariadic), *this;
  }
  Builder& Subgraph(const char* role) { return AddSubgraph(role), *this; }
  Builder& Traits(uint32_t traits) {
    def_.traits = traits | (def_.traits & kMovesData);
    return *this;
  }
  Builder& Infer(Status (*f)(const T&, InferContext&)) {
    def_.infer = [f](const Attrs& a, InferContext& c) { return f(a.As<T>(), c); };
    return *this;
  }
  Builder& Reference(Status (*f)(const T&, EvalContext&)) {
    def_.reference = [f](const Attrs& a, EvalContext& c) { return f(a.As<T>(), c); };
    return *this;
  }

  // Answers. Each is a function or No{"reason"}. Traits imply them for most ops: elementwise ops, views and
  // host-only ops need none.

  // Multiply-accumulates of a node (ir/op_cost.h).
  Builder& Macs(Answer<CountRule> macs) { return Set(def_.macs, std::move(macs)); }
  // FLOPs in addition to two per multiply-accumulate. Default of an elementwise op: one per element of the
  // result.
  Builder& Flops(Answer<CountRule> flops) { return Set(def_.flops, std::move(flops)); }
  // Whether a node processes each item of the outermost dim independently (ir/batch_items.h).
  Builder& Batch(Answer<BatchRule> batch) { return Set(def_.batch, std::move(batch)); }
  // How the results' axes map to the operands', and which attributes and inputs name axes (ir/axis_map.h).
  Builder& Axes(Answer<AxisRule> map, std::function<RenameRule> rename = {}) {
    def_.rename_axes = std::move(rename);
    return Set(def_.axis_map, std::move(map));
  }
  // The op moves data. slices: if the results are contiguous slices of input 0, their offsets in it, in
  // elements (ir/slices.h).
  Builder& Moves(Movement movement, Answer<SliceRule> slices) {
    def_.movement = movement;
    def_.traits |= kMovesData;
    return Set(def_.slices, std::move(slices));
  }
  // If the inputs are contiguous slices of output 0: their offsets in it, in elements.
  Builder& JoinedSlices(std::function<SliceRule> slices) {
    return Set(def_.joined_slices, std::move(slices));
  }
  // For an op with weights: the representative size of an input's axis that the graph leaves open, used to
  // choose the layout of the packed weights. kSizeOfWeights: the weights imply the size. 0: no size is
  // representative.
  Builder& TypicalDims(Answer<TypicalRule> size) { return Set(def_.typical_dim, std::move(size)); }
  Builder& Half(HalfRule rule) { return Set(def_.half, rule); }
  // True if a node with these attributes computes on quantized elements of one scale what it computes on the
  // numbers they represent. Ops that move data without a border do so anyway.
  Builder& KeepsScale(std::function<bool(const Attrs&)> rule) {
    return Set(def_.keeps_scale, std::move(rule));
  }
  // Kinds are op names in the text form: with the prefix "reduce_", ReduceMean means Reduce {kind="mean"}.
  Builder& KindsAreNames(const char* prefix = "") {
    def_.kind_prefix = prefix;
    return *this;
  }
  operator OpDef() { return std::move(def_); }  // NOLINT

 private:
  template <class A, class V> Builder& Set(A& answer, V value) {
    answer = std::move(value);
    return *this;
  }
};

constexpr int64_t kSizeOfWeights = -1;  // OpDef::typical_dim

// Derives answers from an op's traits; called by AddOp.
void FillAnswers(OpDef& def);

// The table of all ops, filled by InitOps() in ops/ops.h.
void AddOp(OpDef def);
const OpDef* FindOp(std::string_view name);  // null if there is none
std::vector<const OpDef*> AllOps();          // sorted by name
// Names of the ops for which `fits` is true. They live as long as the table.
std::vector<const char*> OpNames(bool (*fits)(const OpDef&));

}  // namespace tern

// Defines the op. The build collects these definitions into the table; no list has to be maintained.
#define TERN_OP(Name) OpDef TernOp_##Name()
