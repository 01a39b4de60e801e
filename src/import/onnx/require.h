// Checks a node's inputs. Converters call it before they build constants of the inputs' types.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// Fails unless input i is present and has a known element type in `types`.
inline Status Require(const OnnxNode& n, int i, DTypeSet types = kNumbers) {
  if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  const DType t = n.TypeOf(i);
  if (t == DType::kInvalid) return n.NotYet("the element type of input ", i, " is not known");
  if (!(types & SetOf(t)))
    return n.Bad("input ", i, " must be ", tern::Describe(types), ", got ", n.In(i)->type.ToString());
  return {};
}

}  // namespace tern::onnx
