#include "tools/profile_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "data/json_writer.h"
#include "tools/timing.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

std::string Cut(std::string text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

std::string KindOfBoth(const Node& node, const Node* next) {
  return next ? StrCat(KindOf(node), " + ", KindOf(*next)) : KindOf(node);
}

std::string OutputOfBoth(const Node& node, const Node* next) {
  const Node& last = next ? *next : node;
  return last.outputs().empty() ? "" : Printable(last.output(0)->type.ToString());
}

// Rounds milliseconds to nanoseconds, the resolution of the clock.
double RoundedToNanoseconds(double ms) { return std::round(ms * 1e6) / 1e6; }

// The name of a kernel that multiplies bf16 ends in ".bf16".
bool MultipliesBf16(std::string_view kernel) { return EndsWith(kernel, ".bf16"); }

// Returns the bytes that bf16 saves in one call. The cost of a node assumes the types of the graph. But the
// session may store an f32 value as bf16, and a kernel may pack an f32 weight as bf16. This saves two bytes
// per element. If a call does only the fraction event.share of the node's work, it saves only this fraction
// of the weights' bytes.
double SavedBytes(const StepEvent& event) {
  if (!event.context) return 0;
  const Node& node = *event.node;
  double bf16_elements = 0;
  const auto add = [&](const auto& data, const std::vector<Value*>& values, bool packed) {
    for (size_t i = 0; i < std::min(data.size(), values.size()); ++i) {
      if (!values[i] || !data[i] || !data[i]->is_tensor()) continue;
      const Tensor& t = data[i]->tensor;
      if (values[i]->type.dtype != DType::kF32) continue;
      if (values[i]->is_constant())
        bf16_elements += packed && t.dims().size() > 1 ? event.share * static_cast<double>(t.size()) : 0;
      else if (t.dtype() == DType::kBF16)
        bf16_elements += static_cast<double>(t.size());
    }
  };
  add(event.context->inputs, node.inputs(), MultipliesBf16(event.kernel));
  add(event.context->outputs, node.outputs(), false);
  return 2 * bf16_elements;
}

// Explains a column whose values seem to be wrong.
constexpr const char* kAboveRoof =
    "\n% roof above 100: the step's data came from a cache, which is faster than memory, or its algorithm "
    "computes less than the direct one, such as Winograd's\n";

struct Group {
  double ms = 0;
  int64_t calls = 0;
};

std::vector<std::pair<std::string, Group>> ByKind(const Profile& profile) {
  std::map<std::string, Group> groups;
  for (const ProfiledNode& n : profile.nodes) {
    Group& g = groups[n.Kind()];
    g.ms += n.ms;
    g.calls += n.calls;
  }
  std::vector<std::pair<std::string, Group>> order(groups.begin(), groups.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.ms > b.second.ms; });
  return order;
}

}  // namespace

double MachinePeak::FlopsOf(const std::string& kernel) const {
  return bf16_flops > 0 && MultipliesBf16(kernel) ? bf16_flops : flops;
}

std::string ProfiledNode::Kind() const { return KindOfBoth(*node, next); }
std::string ProfiledNode::Output() const { return OutputOfBoth(*node, next); }
double ProfiledNode::PercentOfPeak(const MachinePeak& peak) const {
  return 100 * flops_per_second() / peak.FlopsOf(kernel);
}
double ProfiledNode::PercentOfRoof(const MachinePeak& peak) const {
  const double flops = peak.FlopsOf(kernel);
  if (!cost || ms <= 0 || flops <= 0 || peak.bytes <= 0) return 0;
  const double lower_bound = std::max(cost->flops / flops, cost->bytes / peak.bytes) * work;
  return 100 * lower_bound / (ms * 1e-3);
}

void ProfileObserver::StartRun() {
  ++runs_;
  trace_.clear();
  clock_us_ = 0;
}

void ProfileObserver::Sum::EndRun() {
  if (calls == 0) return;
  if (best_calls == 0 || nanoseconds < best)
    best = nanoseconds, best_calls = calls, best_work = work, best_saved = saved;
  calls = nanoseconds = 0;
  work = saved = 0;
}

void ProfileObserver::OnStep(const StepEvent& event) {
  Sum& sum = sums_[event.node];
  if (sum.run != runs_) sum.EndRun();
  sum.run = runs_;
  sum.next = event.next;
  sum.kernel = event.kernel;
  sum.depth = event.depth;
  ++sum.calls;
  sum.nanoseconds += event.nanoseconds;
  sum.work += event.share;
  sum.saved += SavedBytes(event);
  const double us = static_cast<double>(event.nanoseconds) * 1e-3;
  if (event.depth == 0) {
    trace_.push_back({event.node, event.next, event.kernel, clock_us_, us});
    clock_us_ += us;
  }
}

Profile ProfileObserver::Take(const MachinePeak& peak, int threads) {
  Profile profile;
  profile.peak = peak;
  profile.threads = threads;
  profile.runs = runs_;
  for (auto& [node, sum] : sums_) {
    sum.EndRun();
    ProfiledNode n;
    n.node = node, n.next = sum.next, n.kernel = sum.kernel, n.depth = sum.depth;
    n.calls = sum.best_calls;
    n.work = sum.best_work;
    n.ms = static_cast<double>(sum.best) * 1e-6;
    n.cost = n.next ? CostOfFused(*node, *n.next) : CostOf(*node);
    if (n.cost && n.work > 0) n.cost->bytes = std::max(0.0, n.cost->bytes - sum.best_saved / n.work);
    if (sum.depth == 0) profile.ms += n.ms;  // the time of a node includes the time of its bodies
    profile.nodes.push_back(std::move(n));
  }
  std::stable_sort(profile.nodes.begin(), profile.nodes.end(),
                   [](const ProfiledNode& a, const ProfiledNode& b) { return a.ms > b.ms; });
  return profile;
}

std::string RateText(const MachinePeak& peak) {
  const std::string f32 = Thousands(peak.flops) + " FLOP/s";
  return peak.bf16_flops > 0 ? StrCat(f32, " (", Thousands(peak.bf16_flops), " in bf16)") : f32;
}

std::string ProfileTable(const Profile& p, int64_t max_rows) {
  std::string out = fmt::format(
      "{:.3f} ms in {} steps, each with its shortest time of {} runs, {} threads, {}, {}; the machine reaches {}, {} "
      "bytes/s\n\n",
      p.ms, p.nodes.size(), p.runs, p.threads, p.isa, p.precision, RateText(p.peak), Thousands(p.peak.bytes));
  constexpr const char* kGroup = "{:<24} {:>6} {:>10} {:>6}\n";
  out += fmt::format(kGroup, "op", "calls", "ms", "%");
  for (const auto& [kind, g] : ByKind(p))
    out += fmt::format(kGroup, Cut(kind, 24), g.calls, fmt::format("{:.3f}", g.ms),
                       fmt::format("{:.1f}", 100 * g.ms / p.ms));
  constexpr const char* kRow = "{:<32} {:<18} {:<28} {:<24} {:>9} {:>6} {:>6} {:>9} {:>7} {:>7}\n";
  out += '\n' + fmt::format(kRow, "node", "op", "kernel", "output", "ms", "%", "sum %", "GFLOP/s", "% peak",
                            "% roof");
  double sum = 0;
  int64_t shown = 0;
  bool above = false;
  for (const ProfiledNode& n : p.nodes) {
    if (max_rows > 0 && shown++ == max_rows) break;
    if (n.depth == 0) sum += n.ms;
    const double rate = n.flops_per_second();
    out += fmt::format(kRow, Cut(Printable(n.node->name), 32), Cut(n.Kind(), 18), Cut(n.kernel, 28),
                       Cut(n.Output(), 24), fmt::format("{:.3f}", n.ms),
                       fmt::format("{:.1f}", 100 * n.ms / p.ms), fmt::format("{:.1f}", 100 * sum / p.ms),
                       n.cost ? fmt::format("{:.1f}", rate * 1e-9) : "?",
                       n.cost ? fmt::format("{:.1f}", n.PercentOfPeak(p.peak)) : "?",
                       n.cost ? fmt::format("{:.1f}", n.PercentOfRoof(p.peak)) : "?");
    above |= n.PercentOfRoof(p.peak) > 100;
  }
  return above ? out + kAboveRoof : out;
}

std::string ProfileJson(const std::string& model, const Profile& p, const Explanation* explanation) {
  data::JsonWriter json;
  json.BeginObject()
      .Key("model")
      .Text(model)
      .Key("ms")
      .Number(RoundedToNanoseconds(p.ms))
      .Key("runs")
      .Int(p.runs);
  json.Key("threads").Int(p.threads).Key("isa").Text(p.isa).Key("precision").Text(p.precision);
  json.Key("peak_gflops").Number(Rounded(p.peak.flops * 1e-9));
  if (p.peak.bf16_flops > 0) json.Key("peak_gflops_bf16").Number(Rounded(p.peak.bf16_flops * 1e-9));
  json.Key("read_gb_per_s").Number(Rounded(p.peak.bytes * 1e-9)).Key("nodes").BeginArray();
  for (const ProfiledNode& n : p.nodes) {
    json.BeginObject().Key("name").Text(n.node->name).Key("op").Text(KindOf(*n.node));
    if (n.next) json.Key("next").Text(n.next->name).Key("next_op").Text(KindOf(*n.next));
    json.Key("kernel").Text(n.kernel).Key("output").Text(n.Output()).Key("depth").Int(n.depth);
    json.Key("calls")
        .Int(n.calls)
        .Key("ms")
        .Number(RoundedToNanoseconds(n.ms))
        .Key("share")
        .Number(Rounded(n.ms / p.ms));
    if (n.cost) {
      json.Key("flops").Number(n.cost->flops).Key("bytes").Number(n.cost->bytes);
      json.Key("gflops").Number(Rounded(n.flops_per_second() * 1e-9));
      json.Key("gb_per_s").Number(Rounded(n.bytes_per_second() * 1e-9));
      json.Key("percent_of_peak").Number(Rounded(n.PercentOfPeak(p.peak)));
      json.Key("percent_of_roof").Number(Rounded(n.PercentOfRoof(p.peak)));
    } else {
      for (const char* key : {"flops", "bytes", "gflops", "gb_per_s", "percent_of_peak", "percent_of_roof"})
        json.Key(key).Null();
    }
    json.EndObject();
  }
  json.EndArray();
  if (explanation) WriteExplanation(*explanation, json);
  json.EndObject();
  return json.Take();
}

std::string ChromeTrace(const std::vector<TraceEvent>& events) {
  data::JsonWriter json;
  json.BeginObject().Key("displayTimeUnit").Text("ms").Key("traceEvents").BeginArray();
  for (const TraceEvent& e : events) {
    json.BeginObject().Key("name").Text(e.node->name.empty() ? KindOf(*e.node) : e.node->name);
    json.Key("cat").Text(KindOfBoth(*e.node, e.next)).Key("ph").Text("X").Key("pid").Int(1).Key("tid").Int(1);
    json.Key("ts").Number(Rounded(e.start_us)).Key("dur").Number(Rounded(e.duration_us));
    json.Key("args").BeginObject().Key("op").Text(KindOfBoth(*e.node, e.next)).Key("kernel").Text(e.kernel);
    json.Key("output").Text(OutputOfBoth(*e.node, e.next)).EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace tern::tools
