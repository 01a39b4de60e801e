#include "bindings/cpp/profile.h"

#include <algorithm>

#include "base/strings.h"
#include "runtime/cost/cost.h"

namespace tern::v1 {
namespace {

std::string_view OutputName(const tern::Node& node) {
  return node.outputs().empty() || !node.output(0) ? std::string_view() : node.output(0)->name;
}

ProfiledNode Describe(const tern::StepEvent& event) {
  const tern::Node& node = *event.node;
  const tern::Node& last = event.next ? *event.next : node;
  ProfiledNode out;
  out.name = node.name.empty() ? std::string(OutputName(node)) : node.name;
  out.op = event.next ? tern::StrCat(tern::KindOf(node), " + ", tern::KindOf(last)) : tern::KindOf(node);
  out.kernel = event.kernel;
  if (!last.outputs().empty() && last.output(0)) out.output = last.output(0)->type.ToString();
  out.depth = event.depth;
  return out;
}

}  // namespace

Recorder::Entry& Recorder::EntryOf(const tern::StepEvent& event) {
  const tern::Node& node = *event.node;
  const std::string_view next = event.next ? std::string_view(event.next->op->name) : std::string_view();
  const KeyView view{node.name, OutputName(node), node.op->name, next, event.kernel, event.depth};
  if (const auto it = index_.find(view); it != index_.end()) return entries_[it->second];
  Entry entry{Describe(event)};
  if (const auto cost = event.next ? tern::CostOfFused(node, *event.next) : tern::CostOf(node))
    entry.flops = cost->flops, entry.bytes = cost->bytes;
  entries_.push_back(std::move(entry));
  index_.emplace(Key{node.name, std::string(OutputName(node)), node.op->name, std::string(next), event.kernel,
                     event.depth},
                 entries_.size() - 1);
  return entries_.back();
}

void Recorder::OnStep(const tern::StepEvent& event) {
  Entry& entry = EntryOf(event);
  ++entry.calls;
  entry.time += std::chrono::nanoseconds(event.nanoseconds);
  entry.work += event.share;
}

void Recorder::Commit(Entry& entry) {
  ProfiledNode& node = entry.node;
  node.fastest = node.runs ? std::min(node.fastest, entry.time) : entry.time;
  node.total += entry.time;
  node.calls += entry.calls;
  node.flops = entry.flops * entry.work;
  node.bytes = entry.bytes * entry.work;
  ++node.runs;
}

void Recorder::EndRun(std::chrono::nanoseconds time, bool ok) {
  for (Entry& entry : entries_) {
    if (ok && entry.calls) Commit(entry);
    entry.calls = 0, entry.time = {}, entry.work = 0;
  }
  if (!ok) return;
  profile_.fastest = profile_.runs ? std::min(profile_.fastest, time) : time;
  profile_.total += time;
  ++profile_.runs;
}

Profile Recorder::Take() {
  for (Entry& entry : entries_)
    if (entry.node.runs) profile_.nodes.push_back(std::move(entry.node));
  return std::move(profile_);
}

Status Predictor::StartProfile() {
  if (!state_) return Convert(MovedFrom());
  return Protect([&]() -> tern::Status {
    const State::Hold hold(*state_);
    TERN_TRY(hold.status());
    state_->recorder = std::make_unique<Recorder>();
    return {};
  });
}

Result<Profile> Predictor::StopProfile() {
  if (!state_) return Convert(MovedFrom());
  Profile profile;
  const Status status = Protect([&]() -> tern::Status {
    const State::Hold hold(*state_);
    TERN_TRY(hold.status());
    if (!state_->recorder)
      return tern::InvalidArgument("no profile is being recorded; call StartProfile before the runs");
    profile = state_->recorder->Take();
    state_->recorder.reset();
    return {};
  });
  if (!status.ok()) return status;
  return profile;
}

}  // namespace tern::v1
