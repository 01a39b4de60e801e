// Records the time per node of runs, for Predictor::StartProfile.
#pragma once
#include <map>
#include <string_view>
#include <tuple>

#include "bindings/cpp/api.h"

namespace tern::v1 {

class Recorder : public tern::RunObserver {
 public:
  void OnStep(const tern::StepEvent& event) override;
  // Ends a run. If `ok` is false, the steps since the last call are discarded.
  void EndRun(std::chrono::nanoseconds time, bool ok);
  Profile Take();

 private:
  // The names of a node identify it. Its address does not, because plans own some nodes, and a plan may be
  // deleted while runs are recorded. The members are the node's name, its first output's name, the op, the
  // fused op, the kernel and the depth.
  using KeyView = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view,
                             std::string_view, int>;
  struct Key {
    std::string name, output, op, next, kernel;
    int depth;
    KeyView view() const { return {name, output, op, next, kernel, depth}; }
  };
  struct Less {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const { return a.view() < b.view(); }
    bool operator()(const Key& a, const KeyView& b) const { return a.view() < b; }
    bool operator()(const KeyView& a, const Key& b) const { return a < b.view(); }
  };
  struct Entry {
    ProfiledNode node;
    int64_t calls = 0;  // calls in the current run
    std::chrono::nanoseconds time{0};
    double work = 0;              // work of these calls; 1 is the work of the node, done once
    double flops = 0, bytes = 0;  // cost of the node's work, done once
  };
  Entry& EntryOf(const tern::StepEvent& event);
  static void Commit(Entry& entry);

  Profile profile_;
  std::vector<Entry> entries_;
  std::map<Key, size_t, Less> index_;  // indices of entries_
};

}  // namespace tern::v1
