// Replaces the tuner in a mini build. SessionOptions::Validate refuses options that need it.
#include "runtime/tune/tuner.h"

#include "runtime/tune/explain.h"

namespace tern {

std::shared_ptr<Tuner> Tuner::For(const SessionOptions&) { return nullptr; }
Tuner::~Tuner() = default;
void Tuner::Tune(const std::vector<KernelQuery>&, const Target&, const Workers&, const Limits&) {}
Tuner::Found Tuner::Find(const KernelQuery&, int) const { return {}; }
TuneReport Tuner::Report() const { return {}; }

Choice Explain(const Node& node, const KernelQuery&, const Target&, const KernelEntry& chosen, Reason reason,
               const std::vector<Measured>&, bool) {
  Choice choice;
  choice.node = &node;
  choice.kernel = chosen.name;
  choice.reason = reason;
  return choice;
}

std::vector<Choice> MergeSlices(const std::vector<Choice>& choices) { return choices; }

}  // namespace tern
