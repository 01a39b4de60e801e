// Exports epilogues of products and convolutions as separate operators.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

constexpr int kResidual = 3;

}  // namespace

bool HasActivation(const TernNode& n) { return n.attrs().Text("activation") != "none"; }

std::string SumsOf(TernNode& n) { return HasActivation(n) || n.Has(kResidual) ? n.Temp() : n.Out(0); }

void EmitEpilogue(TernNode& n, std::string sums) {
  if (n.Has(kResidual))
    sums = n.Emit("Add", {sums, n.In(kResidual)}, {HasActivation(n) ? n.Temp() : n.Out(0)});
  if (HasActivation(n)) EmitActivation(n, sums);
}

void EmitActivation(TernNode& n, const std::string& sums) {
  const Attrs& a = n.attrs();
  const Function function{a.Text("activation"), n.node.output(0)->type.dtype, a.Float("act_alpha"),
                          a.Float("act_beta")};
  EmitFunction(n, function, sums, n.Out(0));
}

}  // namespace tern::onnx
