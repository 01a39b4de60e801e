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
  kPure = 1,         // equal inputs give equal outputs; passes may fold, merge and remove nodes
  kElementwise = 2,  // output element i depends only on element i of each input, after broadcasting
  kInPlace = 4,      // output 0 may overwrite the first input of the same type
  kView = 8,         // the output has the bytes of the first input, with other dims
  kCommutative = 16,
  kControlFlow = 32,  // runs subgraphs
  kRandom = 64,       // results differ between runs
  kHostOnly = 128,    // works on sequences, strings or maps; never runs on a device
  kMovesData = 256,   // each element of the results is copied from an input, or is a constant of the op
  kReadsDims = 512,   // the results depend on the dims of input 0, not on its data
  // Computes sums of products, adds inputs 2 (bias) and 3 (residual), and applies the attribute `activation`.
  kEpilogue = 1024,
};

struct Port {
  enum class Arity : uint8_t { kRequired, kOptional, kVariadic };
  enum class Role : uint8_t {
    kData,
    kWeight,   // if constant, a parameter of the model, which kernels pack once
    kSetting,  // axes, indices, shapes or limits; never a parameter of the model
  };
  std::string name;
  DTypeSet types;  // 0 means any type, including sequences, optionals and maps
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
  std::vector<std::string> subgraphs;  // roles of the subgraphs: then, else, body
  uint32_t traits = kPure;
  Attrs defaults;
  std::function<Status(const Attrs&, InferContext&)> infer;
  std::function<Status(const Attrs&, EvalContext&)> reference;
  std::optional<std::string> kind_prefix;  // see Builder::KindsAreNames

  // Answers. The functions of Builder describe them. AddOp derives missing answers from the traits.
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
  int WeightInput() const;                      // the first input of role kWeight, or -1 if there is none
  bool HasRole(int input, Port::Role r) const;  // false if the op has no inputs
  int InputIndex(std::string_view port) const;  // the port must exist
  int OutputIndex(std::string_view port) const;
  const Port& InputPort(int i) const;  // if the last port is variadic, it is the port of all further inputs
  const Port& OutputPort(int i) const;

  template <class T> class Builder;
  // OpDef::Of<LeakyRelu>("y = …").In("x", kFloats).Out("y", kFloats).Infer(Infer).Reference(Reference)
  template <class T> static Builder<T> Of(const char* summary) { return Builder<T>(summary); }
};

// The functions that all builders share. They are not inline, because otherwise every op's file would compile
// them.
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

  // Answers. Each is a function or No{"reason"}. For elementwise ops, views, control flow, and host-only,
  // random and kReadsDims ops, AddOp derives missing answers from the traits. ops/op_answers_test.cc fails if
  // an op must define an answer and does not.

  // `macs` returns the number of multiply-accumulates of a node (ir/op_cost.h).
  Builder& Macs(Answer<CountRule> macs) { return Set(def_.macs, std::move(macs)); }
  // `flops` returns the FLOPs of a node, without those of its multiply-accumulates. The default of an
  // elementwise op is one FLOP per element of the result.
  Builder& Flops(Answer<CountRule> flops) { return Set(def_.flops, std::move(flops)); }
  // `batch` returns true if a node processes each item of the outermost dim independently (ir/batch_items.h).
  Builder& Batch(Answer<BatchRule> batch) { return Set(def_.batch, std::move(batch)); }
  // `map` tells how the axes of the results correspond to the axes of the operands. `rename` updates the
  // attributes and inputs that contain axis numbers (ir/axis_map.h).
  Builder& Axes(Answer<AxisRule> map, std::function<RenameRule> rename = {}) {
    def_.rename_axes = std::move(rename);
    return Set(def_.axis_map, std::move(map));
  }
  // The op moves data. If the results are contiguous slices of input 0, `slices` returns their offsets in
  // input 0, in elements (ir/slices.h).
  Builder& Moves(Movement movement, Answer<SliceRule> slices) {
    def_.movement = movement;
    def_.traits |= kMovesData;
    return Set(def_.slices, std::move(slices));
  }
  // If the inputs are contiguous slices of output 0, `slices` returns their offsets in output 0, in elements.
  Builder& JoinedSlices(std::function<SliceRule> slices) {
    return Set(def_.joined_slices, std::move(slices));
  }
  // For an op with weights, `size` returns a representative size of an input dim that the model leaves open.
  // The layout of the packed weights is chosen for this size. kSizeOfWeights means that the weights imply the
  // size. 0 means that no size is representative.
  Builder& TypicalDims(Answer<TypicalRule> size) { return Set(def_.typical_dim, std::move(size)); }
  Builder& Half(HalfRule rule) { return Set(def_.half, rule); }
  // `rule` returns true if op(dequantize(x)) equals dequantize(op(x)) for a node with these attributes. All
  // elements of x have the same scale and zero point. By default, `rule` returns true for ops that move data
  // without a constant border.
  Builder& KeepsScale(std::function<bool(const Attrs&)> rule) {
    return Set(def_.keeps_scale, std::move(rule));
  }
  // In the text form, kinds may be used as op names. With the prefix "reduce_", ReduceMean means Reduce
  // {kind="mean"}.
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

constexpr int64_t kSizeOfWeights = -1;  // a result of OpDef::typical_dim

// Derives missing answers from the traits of the op, where that is possible. AddOp calls this function.
void FillAnswers(OpDef& def);

// Adds an op to the table of all ops. InitOps() in ops/ops.h calls this function for each op.
void AddOp(OpDef def);
const OpDef* FindOp(std::string_view name);  // null if there is none
std::vector<const OpDef*> AllOps();          // sorted by name
// Returns the names of the ops for which `fits` is true. The names live as long as the table.
std::vector<const char*> OpNames(bool (*fits)(const OpDef&));

}  // namespace tern

// Defines an op. The build finds these definitions in the sources.
#define TERN_OP(Name) OpDef TernOp_##Name()
