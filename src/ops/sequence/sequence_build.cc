// SequenceEmpty and SequenceConstruct: create sequences.
#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {
namespace {

struct SequenceEmpty {
  DType dtype = DType::kF32;
  template <class V> void Visit(V& v) { v("dtype", dtype, "element type of the sequence's tensors"); }
};

Status InferEmpty(const SequenceEmpty& op, InferContext& c) {
  c.Out("sequence", Type::SequenceOf(Type::TensorOf(op.dtype)));
  return {};
}

Status RunEmpty(const SequenceEmpty&, EvalContext& c) {
  c.SetOut("sequence", Datum::SequenceOf({}));
  return {};
}

struct SequenceConstruct : NoAttrs {};

Status InferConstruct(const SequenceConstruct&, InferContext& c) {
  Type element = c.In(0);
  for (int i = 1; i < c.InputCount(); ++i) element = MergeTypes(element, c.In(i));
  c.Out("sequence", Type::SequenceOf(element));
  return {};
}

Status RunConstruct(const SequenceConstruct&, EvalContext& c) {
  DatumList items;
  for (int i = 0; i < c.InputCount(); ++i) items.emplace_back(c.In(i).Clone());
  c.SetOut("sequence", Datum::SequenceOf(std::move(items)));
  return {};
}

}  // namespace

TERN_OP(SequenceEmpty) {
  return OpDef::Of<SequenceEmpty>("a sequence without elements")
      .Out("sequence", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferEmpty)
      .Reference(RunEmpty);
}

TERN_OP(SequenceConstruct) {
  return OpDef::Of<SequenceConstruct>("a sequence of the given tensors")
      .VarIn("inputs", kAnyType)
      .Out("sequence", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferConstruct)
      .Reference(RunConstruct);
}

}  // namespace tern
