#include "runtime/plan/varying.h"

#include <algorithm>

#include "runtime/plan/lower.h"

namespace tern {
namespace {

constexpr char kSymbol[] = "$length";

// Returns the dim as a linear function of the length, or nullopt if it is not linear or depends on other
// symbols.
std::optional<LinearDim> Linear(const Dim& dim, int64_t max_length) {
  if (dim.known()) return LinearDim{dim.value(), 0};
  const auto at = [&](int64_t length) { return dim.Evaluate({{kSymbol, length}}); };
  const auto zero = at(0), one = at(1);
  if (!zero || !one) return std::nullopt;
  const LinearDim linear{*zero, *one - *zero};
  for (int64_t length : {int64_t{2}, int64_t{3}, int64_t{17}, max_length / 2, max_length})
    if (at(length) != linear.At(length)) return std::nullopt;
  return linear;
}

bool DependsOnLength(const Dim& dim) {
  std::vector<std::string> symbols;
  dim.CollectSymbols(symbols);
  return std::find(symbols.begin(), symbols.end(), kSymbol) != symbols.end();
}

std::optional<LinearDims> LinearOf(const std::vector<Dim>& dims, int64_t max_length) {
  LinearDims out;
  for (const Dim& dim : dims) {
    const auto linear = Linear(dim, max_length);
    if (!linear) return std::nullopt;
    out.push_back(*linear);
  }
  return out;
}

// Describes the node that writes the slot, for messages.
std::string WriterOf(const Lowered& lowered, int slot) {
  for (const PlanNode& node : lowered.nodes)
    if (std::find(node.outputs.begin(), node.outputs.end(), slot) != node.outputs.end())
      return node.node().Describe();
  return StrCat("input ", slot);
}

// Returns the dims of a slot as functions of the length. Fails if a dim gets smaller as the length grows,
// because memory is planned for max_length. Fails if a dim is negative for length 0.
Result<LinearDims> DimsOf(const Lowered& lowered, int slot, int64_t max_length) {
  const std::vector<Dim>& dims = lowered.slots[static_cast<size_t>(slot)].type.shape.dims;
  const auto linear = LinearOf(dims, max_length);
  for (size_t i = 0; linear && i < dims.size(); ++i)
    if ((*linear)[i].slope < 0 || (*linear)[i].base < 0)
      return Unsupported(WriterOf(lowered, slot), ": dim ", dims[i].ToString(),
                         " shrinks with the length or is negative for length 0");
  if (linear) return *linear;
  return Unsupported(WriterOf(lowered, slot), ": a dim of ",
                     lowered.slots[static_cast<size_t>(slot)].type.ToString(),
                     " is not linear in the length");
}

bool Varies(const LinearDims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const LinearDim& d) { return d.slope != 0; });
}

Dims At(const LinearDims& dims, int64_t length) {
  Dims out;
  for (const LinearDim& d : dims) out.push_back(d.At(length));
  return out;
}

}  // namespace

std::string LengthRange::ToString() const {
  std::string text = StrCat("lengths to ", max_length);
  for (const LinearDims& dims : inputs) {
    text += " [";
    for (const LinearDim& d : dims) text += StrCat(d.base, "+", d.slope, "*L,");
    text += "]";
  }
  return text;
}

Dim LengthSymbol() { return Dim::Symbol(kSymbol); }

Dim SymbolicDim(const LinearDim& dim) {
  return dim.slope == 0 ? Dim(dim.base) : Dim(dim.slope) * LengthSymbol() + Dim(dim.base);
}

Result<Varying> FixLength(Lowered& lowered, int64_t max_length) {
  Varying varying;
  varying.max_length = max_length;
  for (size_t i = 0; i < lowered.slots.size(); ++i) {
    SlotFacts& facts = lowered.slots[i];
    if (!facts.type.tensor() || !facts.type.shape.ranked) continue;
    std::vector<Dim>& shape = facts.type.shape.dims;
    if (std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.unknown(); })) continue;
    TERN_ASSIGN(const LinearDims dims, DimsOf(lowered, static_cast<int>(i), max_length));
    facts.type.shape = Shape::Of(At(dims, max_length));
    if (Varies(dims)) {
      facts.varying = dims;
      varying.dims.push_back({static_cast<int>(i), dims});
      continue;
    }
    if (!facts.content || facts.is_known() ||
        std::none_of(facts.content->begin(), facts.content->end(), DependsOnLength))
      continue;
    const std::vector<Dim> elements = *facts.content;
    facts.content.reset();
    if (!IsInt(facts.type.dtype) || static_cast<int64_t>(elements.size()) != CountOf(At(dims, max_length)))
      continue;
    const auto values = LinearOf(elements, max_length);
    if (!values) continue;  // not linear, so the run computes the elements
    facts.known = Tensor(facts.type.dtype, At(dims, max_length));
    FromLongs(At(*values, max_length), facts.known);
    facts.refreshed = true;
    varying.contents.push_back({static_cast<int>(i), *values});
  }
  return varying;
}

}  // namespace tern
