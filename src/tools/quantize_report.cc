#include "tools/quantize_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/timing.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr int kRounds = 7;

// Keeps the shortest time of each node by its name.
class LayerTimes : public RunObserver {
 public:
  void OnStep(const StepEvent& event) override {
    if (event.depth == 0) run_[event.node->name] += static_cast<double>(event.nanoseconds) * 1e-6;
  }
  void EndRun(std::map<std::string, double>& best) {
    for (const auto& [name, ms] : run_) {
      const auto [it, added] = best.emplace(name, ms);
      if (!added) it->second = std::min(it->second, ms);
    }
    run_.clear();
  }

 private:
  std::map<std::string, double> run_;
};

size_t TotalOf(const MemoryReport& m) { return m.weights + m.folded + m.packed + m.arena + m.dynamic_peak; }

Status MeasureOnce(Engine& engine, bool first, RunCost& cost) {
  const Stopwatch watch;
  TERN_TRY(engine.RunBound());
  const double ms = watch.Milliseconds();
  cost.ms = first ? ms : std::min(cost.ms, ms);
  LayerTimes times;
  engine.SetObserver(&times);
  const Status run = engine.RunBound();
  engine.SetObserver(nullptr);
  times.EndRun(cost.layers);
  cost.memory = TotalOf(engine.Memory());
  return run;
}

double TimeOf(const RunCost& cost, const std::string& layer) {
  const auto it = cost.layers.find(layer);
  return it == cost.layers.end() ? 0 : it->second;
}

double Percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

void WriteCost(const char* key, double before, double after, data::JsonWriter& json) {
  json.Key(key)
      .BeginObject()
      .Key("before")
      .Number(Rounded(before))
      .Key("after")
      .Number(Rounded(after))
      .EndObject();
}

void WriteLayersJson(const QuantizeReport& r, data::JsonWriter& json) {
  json.Key("layer_errors").BeginArray();
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const compress::LayerReport& layer = r.made->layers[i];
    json.BeginObject().Key("name").Text(layer.name).Key("sqnr_db").Number(r.layers[i].sqnr());
    json.Key("cosine").Number(r.layers[i].cosine()).Key("max_error").Number(r.layers[i].max_error());
    json.Key("weights_rms_nearest").Number(layer.nearest_error).Key("weights_rms").Number(layer.error);
    if (const auto alone = r.alone.find(layer.name); alone != r.alone.end())
      json.Key("alone_sqnr_db").Number(alone->second);
    WriteCost("ms", TimeOf(r.before, layer.name), TimeOf(r.after, layer.name), json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteValues(const QuantizeReport& r, data::JsonWriter& json) {
  json.Key("values").BeginArray();
  for (const compress::GridReport& v : r.made->grids) {
    json.BeginObject().Key("name").Text(v.value).Key("type").Text(DTypeName(v.grid.dtype));
    json.Key("scale").Number(v.grid.scale).Key("zero_point").Int(v.grid.zero);
    json.Key("low").Number(v.observed.low).Key("high").Number(v.observed.high);
    json.Key("sqnr_db").Number(v.sqnr).Key("cosine").Number(v.cosine).EndObject();
  }
  json.EndArray();
}

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

Status MeasureCosts(const Graph& before, const Graph& after, const DatumList& inputs, int threads,
                    QuantizeReport& report) {
  const SessionOptions options{.threads = threads, .level = Level::kLayout};
  TERN_ASSIGN(Engine first, Engine::Make(before.Clone(), options));
  TERN_ASSIGN(Engine second, Engine::Make(after.Clone(), options));
  for (Engine* engine : {&first, &second}) {
    TERN_TRY(engine->Bind(inputs));
    TERN_TRY(engine->RunBound());
  }
  for (int round = 0; round < kRounds; ++round) {
    TERN_TRY(MeasureOnce(first, round == 0, report.before));
    TERN_TRY(MeasureOnce(second, round == 0, report.after));
  }
  return {};
}

std::string ReportText(const QuantizeReport& r) {
  const auto before = static_cast<double>(r.bytes_before), after = static_cast<double>(r.bytes_after);
  std::string text = fmt::format(
      "{}: {} layers quantized by {} on {} samples\n"
      "file     {}B before, {}B after ({:.1f} %)\n"
      "memory   {}B before, {}B after\n"
      "latency  {:.3f} ms before, {:.3f} ms after\n"
      "outputs  SQNR {:.1f} dB, cosine {:.5f}, largest error {:.3g}\n",
      r.output, r.made->layers.size(), r.method, r.samples, Thousands(before), Thousands(after),
      Percent(after, before), Thousands(static_cast<double>(r.before.memory)),
      Thousands(static_cast<double>(r.after.memory)), r.before.ms, r.after.ms, r.outputs.sqnr(),
      r.outputs.cosine(), r.outputs.max_error());
  if (r.evaluation) text += AccuracyText(*r.evaluation);
  for (const auto& [name, why] : r.made->floats)
    text += fmt::format("'{}' stays float: {}\n", Printable(name), why);
  if (r.layers.empty()) return text;
  text += fmt::format("{:<40} {:>8} {:>9} {:>10} {:>9} {:>9}\n", "layer", "SQNR dB", "cosine", "max error",
                      "ms before", "ms after");
  for (size_t i = 0; i < r.layers.size(); ++i) {
    const std::string& name = r.made->layers[i].name;
    text += fmt::format("{:<40} {:>8.1f} {:>9.5f} {:>10.3g} {:>9.3f} {:>9.3f}\n", Printable(name),
                        r.layers[i].sqnr(), r.layers[i].cosine(), r.layers[i].max_error(),
                        TimeOf(r.before, name), TimeOf(r.after, name));
  }
  return text;
}

std::string ReportJson(const QuantizeReport& r) {
  data::JsonWriter json;
  json.BeginObject().Key("output").Text(r.output).Key("method").Text(r.method);
  json.Key("samples").Unsigned(r.samples).Key("layers").Unsigned(r.made->layers.size());
  json.Key("bytes")
      .BeginObject()
      .Key("before")
      .Unsigned(r.bytes_before)
      .Key("after")
      .Unsigned(r.bytes_after)
      .EndObject();
  WriteCost("memory", static_cast<double>(r.before.memory), static_cast<double>(r.after.memory), json);
  WriteCost("ms", r.before.ms, r.after.ms, json);
  json.Key("outputs").BeginObject().Key("sqnr_db").Number(r.outputs.sqnr());
  json.Key("cosine").Number(r.outputs.cosine()).Key("max_error").Number(r.outputs.max_error()).EndObject();
  if (r.evaluation) {
    json.Key("accuracy").BeginObject();
    WritePaired(*r.evaluation, json);
    json.EndObject();
  }
  json.Key("float_layers").BeginArray();
  for (const auto& [name, why] : r.made->floats)
    json.BeginObject().Key("name").Text(name).Key("why").Text(why).EndObject();
  json.EndArray();
  if (!r.layers.empty()) WriteLayersJson(r, json);
  WriteValues(r, json);
  return json.EndObject().Take();
}

}  // namespace tern::tools
