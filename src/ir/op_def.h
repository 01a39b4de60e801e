// The declaration of an op: what it is called, takes, gives, and how it behaves. One per file under src/ops.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ir/attrs.h"

namespace tern {

class InferContext;
class EvalContext;

enum Trait : uint32_t {
  kPure = 1,         // same inputs, same outputs; may be folded, shared, dropped
  kElementwise = 2,  // output element i depends on (broadcast) input element i only
  kInPlace = 4,      // the first output may overwrite the first input of the same type
  kView = 8,         // the output is the first input's bytes under other dims
  kCommutative = 16,
  kControlFlow = 32,  // runs subgraphs
  kRandom = 64,       // another run, another result
  kHostOnly = 128,    // works on sequences, strings, maps: never on a device
};

struct Port {
  enum class Arity : uint8_t { kRequired, kOptional, kVariadic };
  std::string name;
  DTypeSet types;  // 0: not a tensor (sequence, optional, map) or anything at all
  Arity arity = Arity::kRequired;
};

class OpDef {
 public:
  std::string name;
  std::string summary;
  std::string family;  // the folder under src/ops
  std::vector<Port> inputs, outputs;
  std::vector<std::string> subgraphs;  // their roles: then, else, body
  uint32_t traits = kPure;
  Attrs defaults;
  std::function<Status(const Attrs&, InferContext&)> infer;
  std::function<Status(const Attrs&, EvalContext&)> reference;

  bool Is(Trait t) const { return traits & t; }
  int InputIndex(std::string_view port) const;  // CHECKs that it exists
  int OutputIndex(std::string_view port) const;
  const Port& InputPort(int i) const;  // a trailing variadic port covers the rest
  const Port& OutputPort(int i) const;

  template <class T> class Builder;
  // OpDef::Of<LeakyRelu>("y = …").In("x", kFloats).Out("y", kFloats).Infer(Infer).Reference(Reference)
  template <class T> static Builder<T> Of(const char* summary) { return Builder<T>(summary); }
};

template <class T> class OpDef::Builder {
 public:
  explicit Builder(const char* summary) {
    def_.summary = summary;
    def_.defaults = Attrs::Of(T{});
  }
  Builder& In(const char* name, DTypeSet types) { return AddIn(name, types, Port::Arity::kRequired); }
  Builder& OptIn(const char* name, DTypeSet types) { return AddIn(name, types, Port::Arity::kOptional); }
  Builder& VarIn(const char* name, DTypeSet types) { return AddIn(name, types, Port::Arity::kVariadic); }
  Builder& Out(const char* name, DTypeSet types) { return AddOut(name, types, Port::Arity::kRequired); }
  Builder& OptOut(const char* name, DTypeSet types) { return AddOut(name, types, Port::Arity::kOptional); }
  Builder& VarOut(const char* name, DTypeSet types) { return AddOut(name, types, Port::Arity::kVariadic); }
  Builder& Subgraph(const char* role) {
    def_.subgraphs.push_back(role);
    return *this;
  }
  Builder& Traits(uint32_t traits) {
    def_.traits = traits;
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
  operator OpDef() { return std::move(def_); }  // NOLINT

 private:
  Builder& AddIn(const char* name, DTypeSet types, Port::Arity arity) {
    def_.inputs.push_back({name, types, arity});
    return *this;
  }
  Builder& AddOut(const char* name, DTypeSet types, Port::Arity arity) {
    def_.outputs.push_back({name, types, arity});
    return *this;
  }
  OpDef def_;
};

// The table of all ops, filled by InitOps() in ops/ops.h.
void AddOp(OpDef def);
const OpDef* FindOp(std::string_view name);  // null when there is none
std::vector<const OpDef*> AllOps();          // by name

}  // namespace tern

// Defines the op. The build finds these lines and makes the table; there is no list to keep.
#define TERN_OP(Name) OpDef TernOp_##Name()
