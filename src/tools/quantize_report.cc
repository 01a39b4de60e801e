#include "tools/quantize_report.h"

#include <fmt/core.h>

#include "tools/units.h"

namespace tern::tools {

double TimeOf(const compress::RunCost& cost, const std::string& layer) {
  const auto it = cost.layers.find(layer);
  return it == cost.layers.end() ? 0 : it->second;
}

namespace {

double Percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

std::string AccuracyText(const Evaluation& e) {
  const compress::Accuracy before = AccuracyOf(e.others), after = AccuracyOf(e.answers);
  const auto n = static_cast<double>(before.n);
  return fmt::format("top-1 {:.2f} % before, {:.2f} % after; top-5 {:.2f} % before, {:.2f} % after\n{}\n",
                     Percent(static_cast<double>(before.top1), n),
                     Percent(static_cast<double>(after.top1), n),
                     Percent(static_cast<double>(before.top5), n),
                     Percent(static_cast<double>(after.top5), n), PairedText(e));
}

}  // namespace

std::string ReportText(const QuantizeReport& report, bool with_layers) {
  const compress::StaticReport& r = report.result;
  const compress::RunCost &was = r.costs.before, &is = r.costs.after;
  const auto before = static_cast<double>(report.files.bytes_before),
             after = static_cast<double>(report.files.bytes_after);
  std::string text = fmt::format(
      "{}: {} layers quantized by {} on {} samples\n"
      "file     {}B before, {}B after ({:.1f} %)\n"
      "memory   {}B before, {}B after\n"
      "latency  {:.3f} ms before, {:.3f} ms after\n"
      "outputs  SQNR {:.1f} dB, cosine {:.5f}, largest error {:.3g}\n",
      report.files.output, r.made.layers.size(), report.method, r.samples, Thousands(before),
      Thousands(after), Percent(after, before), Thousands(static_cast<double>(was.memory)),
      Thousands(static_cast<double>(is.memory)), was.ms, is.ms, r.outputs.sqnr(), r.outputs.cosine(),
      r.outputs.max_error());
  if (report.evaluation) text += AccuracyText(*report.evaluation);
  for (const auto& [name, why] : r.made.floats)
    text += fmt::format("'{}' stays float: {}\n", Printable(name), why);
  if (r.layers.empty() || !with_layers) return text;
  text += fmt::format("{:<40} {:>8} {:>9} {:>10} {:>9} {:>9}\n", "layer", "SQNR dB", "cosine", "max error",
                      "ms before", "ms after");
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const std::string& name = r.made.layers[i].name;
    text += fmt::format("{:<40} {:>8.1f} {:>9.5f} {:>10.3g} {:>9.3f} {:>9.3f}\n", Printable(name),
                        r.layers[i].sqnr(), r.layers[i].cosine(), r.layers[i].max_error(), TimeOf(was, name),
                        TimeOf(is, name));
  }
  return text;
}

std::string ReportJson(const QuantizeReport& r) {
  return quantize::StaticJson(r.files, r.method, r.result, [&](data::JsonWriter& json) {
    if (!r.evaluation) return;
    json.Key("accuracy").BeginObject();
    WritePaired(*r.evaluation, json);
    json.EndObject();
  });
}

}  // namespace tern::tools
