// SequenceAt, SequenceInsert, SequenceErase, SequenceLength: read and change sequences by position.
#include "ops/control/inputs.h"

namespace tern {
namespace {

struct SequenceAt : NoAttrs {};
struct SequenceInsert : NoAttrs {};
struct SequenceErase : NoAttrs {};
struct SequenceLength : NoAttrs {};

Result<const DatumList*> ItemsOf(EvalContext& c) {
  const Datum& d = c.InDatum("sequence");
  if (!d.is_sequence()) return InvalidArgument("input 'sequence' must be a sequence, got ", d.Describe());
  return d.sequence.get();
}

// Returns the input `position` as an index, or `otherwise` if the input is absent. Fails if the position is
// outside [-limit, limit).
Result<size_t> Position(EvalContext& c, int64_t limit, int64_t otherwise) {
  int64_t p = otherwise;
  if (c.Has("position")) {
    TERN_ASSIGN(p, OneElement(c, c.op().InputIndex("position"), "position"));
  }
  if (p < -limit || p >= limit + (c.Has("position") ? 0 : 1))
    return InvalidArgument("position ", p, " is outside a sequence of ", limit);
  return static_cast<size_t>(p < 0 ? p + limit : p);
}

Type ElementOf(const Type& t) { return t.element ? *t.element : Type(); }

Status InferAt(const SequenceAt&, InferContext& c) {
  c.Out("element", ElementOf(c.In("sequence")));
  return {};
}

Status RunAt(const SequenceAt&, EvalContext& c) {
  TERN_ASSIGN(const DatumList* items, ItemsOf(c));
  TERN_ASSIGN(size_t at, Position(c, static_cast<int64_t>(items->size()), 0));
  if (at >= items->size())
    return InvalidArgument("position ", at, " is outside a sequence of ", items->size());
  c.SetOut("element", (*items)[at]);
  return {};
}

Status InferInsert(const SequenceInsert&, InferContext& c) {
  const Type element = ElementOf(c.In("sequence"));
  const Type merged = MergeTypes(element, c.In("element"));
  c.Out("result", Type::SequenceOf(merged));
  return {};
}

Status RunInsert(const SequenceInsert&, EvalContext& c) {
  TERN_ASSIGN(const DatumList* items, ItemsOf(c));
  const auto size = static_cast<int64_t>(items->size());
  int64_t p = size;
  if (c.Has("position")) {
    TERN_ASSIGN(p, OneElement(c, c.op().InputIndex("position"), "position"));
    if (p < -size || p > size) return InvalidArgument("position ", p, " is outside a sequence of ", size);
    if (p < 0) p += size;
  }
  DatumList out = *items;
  const Datum& element = c.InDatum("element");
  out.insert(out.begin() + p, element.is_tensor() ? Datum(element.tensor.Clone()) : element);
  c.SetOut("result", Datum::SequenceOf(std::move(out)));
  return {};
}

Status InferErase(const SequenceErase&, InferContext& c) {
  c.Out("result", c.In("sequence"));
  return {};
}

Status RunErase(const SequenceErase&, EvalContext& c) {
  TERN_ASSIGN(const DatumList* items, ItemsOf(c));
  const auto size = static_cast<int64_t>(items->size());
  if (size == 0) return InvalidArgument("cannot erase from an empty sequence");
  TERN_ASSIGN(size_t at, Position(c, size, size - 1));
  DatumList out = *items;
  out.erase(out.begin() + static_cast<int64_t>(at));
  c.SetOut("result", Datum::SequenceOf(std::move(out)));
  return {};
}

Status InferLength(const SequenceLength&, InferContext& c) {
  c.Out("length", DType::kI64, Shape(std::vector<Dim>{}));
  return {};
}

Status RunLength(const SequenceLength&, EvalContext& c) {
  TERN_ASSIGN(const DatumList* items, ItemsOf(c));
  c.OutLongs("length", {}, {static_cast<int64_t>(items->size())});
  return {};
}

}  // namespace

TERN_OP(SequenceAt) {
  return OpDef::Of<SequenceAt>("the element at a position; a negative position counts from the end")
      .In("sequence", 0)
      .Setting("position", kIndices)
      .Out("element", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferAt)
      .Reference(RunAt);
}

TERN_OP(SequenceInsert) {
  return OpDef::Of<SequenceInsert>(
             "the sequence with an element inserted before a position; by default at the end")
      .In("sequence", 0)
      .In("element", 0)
      .OptSetting("position", kIndices)
      .Out("result", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferInsert)
      .Reference(RunInsert);
}

TERN_OP(SequenceErase) {
  return OpDef::Of<SequenceErase>("the sequence without the element at a position; by default the last")
      .In("sequence", 0)
      .OptSetting("position", kIndices)
      .Out("result", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferErase)
      .Reference(RunErase);
}

TERN_OP(SequenceLength) {
  return OpDef::Of<SequenceLength>("the number of elements of a sequence")
      .In("sequence", 0)
      .Out("length", SetOf(DType::kI64))
      .Traits(kPure | kHostOnly)
      .Infer(InferLength)
      .Reference(RunLength);
}

}  // namespace tern
