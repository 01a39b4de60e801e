// Checks a node's inputs. Converters call Require before they use the type of an input, for example to make a
// constant of the same type.
#pragma once
#include "import/onnx/converter.h"

namespace tern::onnx {

// Fails if input i is absent, if its element type is unknown, or if `types` does not contain this type.
inline Status Require(const OnnxNode& n, int i, DTypeSet types = kNumbers) {
  if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  const DType t = n.TypeOf(i);
  if (t == DType::kInvalid) return n.NotYet("the element type of input ", i, " is not known");
  if (!(types & SetOf(t)))
    return n.Bad("input ", i, " must be ", tern::Describe(types), ", got ", n.In(i)->type.ToString());
  return {};
}

}  // namespace tern::onnx
