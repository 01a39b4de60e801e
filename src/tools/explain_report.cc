#include "tools/explain_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/cost/cost.h"
#include "tools/timing.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

std::string OutputOf(const Node& node) {
  return node.outputs().empty() ? "" : node.output(0)->type.ToString();
}

std::string CandidateLine(const Choice& choice, const Candidate& c) {
  const bool chosen = c.kernel == choice.kernel;
  std::string line = fmt::format("  {} {:<34}", chosen ? '*' : ' ', c.kernel);
  if (!c.legal) return line + " no: " + Printable(c.why_not);
  line += fmt::format(" estimated {:>10.1f} us", c.estimated_us);
  if (c.measured_us > 0) line += fmt::format("  measured {:>10.1f} us", c.measured_us);
  if (!chosen) return line;
  return line + StrCat("  <- ", TextOf(choice.reason), choice.in_run ? ", for the last run" : "");
}

std::string GraphOf(const Node& node) { return node.graph->parent ? node.graph->name : ""; }

std::string Title(const Choice& choice) {
  std::string title = fmt::format("{} ({}) {}", Printable(choice.node->name), KindOf(*choice.node),
                                  Printable(OutputOf(*choice.node)));
  if (const std::string graph = GraphOf(*choice.node); !graph.empty())
    title += fmt::format(", in the inner graph '{}'", Printable(graph));
  return choice.slices > 1 ? title + fmt::format(", {} slices of the batch, each:", choice.slices) : title;
}

}  // namespace

std::string ExplainText(const Explanation& e) {
  std::string out = "why each node uses its kernel (estimates are for one thread):\n";
  for (const Choice& choice : e.choices) {
    out += Title(choice) + "\n";
    for (const Candidate& c : choice.candidates)
      if (c.legal || !c.why_not.empty()) out += CandidateLine(choice, c) + "\n";
  }
  const auto in_run =
      std::count_if(e.choices.begin(), e.choices.end(), [](const Choice& c) { return c.in_run; });
  if (in_run > 0)
    out += fmt::format(
        "{} of these kernels {} chosen in each run and never measured, because shapes depend on data\n",
        in_run, in_run == 1 ? "is" : "are");
  const TuneReport& t = e.tuning;
  out +=
      fmt::format("tuning: {} kinds of nodes measured in {:.0f} ms, {} found in the record{}\n", t.measured,
                  t.milliseconds, t.recorded, t.record.empty() ? "" : " " + Printable(t.record));
  return out;
}

void WriteExplanation(const Explanation& e, data::JsonWriter& json) {
  json.Key("explain").BeginArray();
  for (const Choice& choice : e.choices) {
    json.BeginObject().Key("name").Text(choice.node->name).Key("op").Text(KindOf(*choice.node));
    json.Key("output").Text(OutputOf(*choice.node)).Key("kernel").Text(choice.kernel);
    json.Key("graph").Text(GraphOf(*choice.node)).Key("in_run").Bool(choice.in_run);
    json.Key("pieces").Int(choice.slices).Key("reason").Text(TextOf(choice.reason));
    json.Key("candidates").BeginArray();
    for (const Candidate& c : choice.candidates) {
      json.BeginObject().Key("kernel").Text(c.kernel).Key("legal").Bool(c.legal);
      if (!c.legal) {
        json.Key("why_not").Text(c.why_not).EndObject();
        continue;
      }
      json.Key("estimated_us").Number(Rounded(c.estimated_us));
      if (c.measured_us > 0)
        json.Key("measured_us").Number(Rounded(c.measured_us));
      else
        json.Key("measured_us").Null();
      json.Key("work").BeginArray();
      for (const Work& w : c.work) {
        json.BeginObject().Key("algorithm").Text(w.algorithm).Key("products").Number(w.products);
        json.Key("weights").Number(w.weights).Key("moved").Number(w.moved);
        json.Key("transformed").Number(w.transformed).EndObject();
      }
      json.EndArray().EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().Key("tuning").BeginObject().Key("measured").Int(e.tuning.measured);
  json.Key("recorded").Int(e.tuning.recorded).Key("ms").Number(Rounded(e.tuning.milliseconds));
  json.Key("record").Text(e.tuning.record).EndObject();
}

}  // namespace tern::tools
