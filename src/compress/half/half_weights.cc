#include "compress/half/half_weights.h"

#include <algorithm>
#include <cmath>

#include "compress/first_reader.h"
#include "ir/verify.h"

namespace tern::compress {
namespace {

constexpr int64_t kLeastElements = 16;
constexpr double kLeastSqnr = 40;  // dB

double Short(double v) { return std::round(v * 10) / 10; }

// Returns "" if `half` represents `real` well, else the reason why not.
std::string WhyNot(const Tensor& real, const Tensor& half) {
  double signal = 0, noise = 0;
  for (int64_t i = 0; i < real.size(); ++i) {
    const double a = LoadDouble(real, i), b = LoadDouble(half, i);
    if (!std::isfinite(a)) return StrCat("element ", i, " is not finite");
    if (!std::isfinite(b)) return StrCat("element ", i, ", ", a, ", overflows ", DTypeName(half.dtype()));
    signal += a * a;
    noise += (a - b) * (a - b);
  }
  const double sqnr = noise == 0 ? INFINITY : 10 * std::log10(signal / noise);
  if (sqnr < kLeastSqnr)
    return StrCat("rounding to ", DTypeName(half.dtype()), " gives a signal-to-noise ratio of ", Short(sqnr),
                  " dB, less than ", kLeastSqnr, " dB");
  return "";
}

}  // namespace

Result<HalfReport> StoreWeightsAsHalf(Graph& graph, DType to) {
  HalfReport report;
  std::vector<Value*> constants;
  for (const auto& v : graph.values()) {
    const bool overridable = std::find(graph.overridable().begin(), graph.overridable().end(), v.get()) !=
                             graph.overridable().end();
    if (v->is_constant() && v->constant.dtype() == DType::kF32 && v->constant.size() >= kLeastElements &&
        !overridable && v->output_uses == 0)
      constants.push_back(v.get());
  }
  for (Value* v : constants) {
    Node* reader = FirstReader(graph, *v);
    if (!reader) continue;
    const Tensor real = v->constant.Contiguous();
    Tensor half(to, real.dims());
    FromDoubles(ToDoubles(real), half);
    if (std::string why = WhyNot(real, half); !why.empty()) {
      report.kept.push_back({v->name, reader->Describe(), std::move(why)});
      continue;
    }
    const OpDef& cast = *FindOp("Cast");
    Attrs attrs = cast.defaults;
    TERN_TRY(attrs.Set("to", DType::kF32));
    Value* stored = graph.AddConstant(std::move(half), v->name);
    Node* node = graph.AddNode(cast, attrs, {stored}, 1, reader);
    TERN_TRY(InferNode(*node));
    graph.ReplaceUses(v, node->output(0));
    ++report.converted;
  }
  graph.RemoveUnusedConstants();
  TERN_TRY(VerifyGraph(graph));
  return report;
}

}  // namespace tern::compress
