#include "runtime/tune/explain.h"

#include <algorithm>
#include <map>

namespace tern {
namespace {

Candidate CandidateOf(const KernelEntry& entry, const KernelQuery& query,
                      const std::vector<Measured>& times) {
  Candidate c;
  c.kernel = entry.name;
  c.legal = entry.legal(query);
  if (!c.legal) {
    if (entry.can.why_not) c.why_not = entry.can.why_not(query);
    return c;
  }
  c.estimated_us = EstimatedMicroseconds(entry, query);
  if (entry.can.work_of) c.work = entry.can.work_of(query);
  for (const Measured& m : times)
    if (m.kernel == entry.name) c.measured_us = m.microseconds;
  return c;
}

bool Equal(const Choice& a, const Choice& b) {
  return a.kernel == b.kernel && a.reason == b.reason &&
         std::equal(a.candidates.begin(), a.candidates.end(), b.candidates.begin(), b.candidates.end(),
                    [](const Candidate& x, const Candidate& y) {
                      return x.kernel == y.kernel && x.legal == y.legal && x.estimated_us == y.estimated_us;
                    });
}

}  // namespace

std::vector<Choice> MergeSlices(const std::vector<Choice>& choices) {
  std::vector<Choice> merged;
  std::map<const Node*, std::vector<size_t>> indices;  // indices into `merged`, by node
  for (const Choice& choice : choices) {
    std::vector<size_t>& of_node = indices[choice.node];
    const auto same =
        std::find_if(of_node.begin(), of_node.end(), [&](size_t i) { return Equal(merged[i], choice); });
    if (same != of_node.end()) {
      ++merged[*same].slices;
      continue;
    }
    of_node.push_back(merged.size());
    merged.push_back(choice);
  }
  return merged;
}

Choice Explain(const Node& node, const KernelQuery& query, const Target& target, const KernelEntry& chosen,
               Reason reason, const std::vector<Measured>& times, bool released) {
  Choice choice{&node, chosen.name, reason, {}, 1};
  for (const KernelEntry* entry : target.KernelsOf(query.op().name))
    if (!released || entry->can.pack == chosen.can.pack)
      choice.candidates.push_back(CandidateOf(*entry, query, times));
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(), [](const auto& a, const auto& b) {
    return a.legal != b.legal ? a.legal : a.estimated_us < b.estimated_us;
  });
  const bool only = choice.candidates.size() < 2 || !choice.candidates[1].legal;
  if (reason == Reason::kEstimated && only) choice.reason = Reason::kOnly;
  double lowest = 0, chosen_us = 0;  // measured times: the lowest time, and the time of `chosen`
  for (const Candidate& c : choice.candidates) {
    if (c.measured_us > 0 && (lowest == 0 || c.measured_us < lowest)) lowest = c.measured_us;
    if (c.kernel == chosen.name) chosen_us = c.measured_us;
  }
  const bool measured = reason == Reason::kMeasured || reason == Reason::kRecorded;
  if (measured && chosen_us > lowest) choice.reason = Reason::kClose;
  return choice;
}

}  // namespace tern
