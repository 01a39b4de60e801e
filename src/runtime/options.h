// SessionOptions contains all options that control how a model runs. The public Config, command-line flags
// and tests set them. The model, sessions, the tuner and plans read them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "passes/level.h"
#include "runtime/model/precision.h"

namespace tern {

class Target;

constexpr int kMaxThreads = 1024;
constexpr int64_t kMaxTuneMs = 600'000;

// Formats an option and its value for messages the way the user writes them, such as "tune_ms 5". If the
// value is empty, returns only the name.
using OptionText = std::string (*)(std::string_view option, std::string_view value);
// Formats options as in calls of Config, such as "reference(true)".
std::string SettingText(std::string_view option, std::string_view value);

struct SessionOptions {
  int threads = 0;         // how many threads of the process-wide pool one run uses; 0 means one per core
  int plan_cache = 8;      // cached plans per graph, one per set of input shapes
  bool reference = false;  // whether the reference evaluator runs every op
  size_t fold_budget = size_t{256} << 20;  // bytes of constants that constant folding may create
  // Cache size in bytes. If the values that one step passes to the next exceed this size, a large batch is
  // split and runs slice by slice.
  size_t value_cache = size_t{8} << 20;
  size_t memory_limit = 0;  // bytes for intermediate values; 0 means the size of the machine's memory
  // Limit in bytes for the outputs that one Loop or Scan collects over its iterations. The limit stops an
  // endless loop before the memory is full. 0 means DefaultCollectLimit().
  size_t collect_limit = 0;
  const Target* target = nullptr;  // null means the CPU
  Level level = Level::kNone;      // optimization level
  Precision precision = Precision::kF32;
  // Time budget in milliseconds for measuring kernels while plans are compiled, for a session and its clones
  // together. At most kMaxTuneMs. Measurements are stored in cache_dir, where later sessions read them.
  int64_t tune_ms = 0;
  // The tuner measures kernels whose estimated time is at most this multiple of the lowest estimate.
  double tune_within = 3;
  // Folder of the measurements. nullopt means DefaultCacheDir(). If the text is empty, measurements are
  // neither read nor stored. A folder given here is read even if tune_ms is 0.
  std::optional<std::string> cache_dir = std::nullopt;
  // Selects the pairs of an input and an output that are states, so that their values persist between runs.
  // "auto" pairs past inputs with present outputs by the names that common exporters use. "none" means no
  // states. "past=present,…" lists the pairs. If the text is empty, the states are those that the graph
  // declares.
  std::string states = {};
  bool explain = false;       // records why each kernel was chosen, for Session::Choices()
  bool keep_weights = false;  // weights stay in memory after kernels have packed them, as training requires

  // Returns kInvalidArgument if a value is out of range or two options exclude each other. The message names
  // the option, its value and the allowed range.
  Status Validate(OptionText text = SettingText) const;
  // Returns `target`, or the CPU if `target` is null. If `reference` is set, returns a target without
  // kernels.
  const Target& TargetOrDefault() const;
  // Returns the options with a memory_limit or collect_limit of 0 replaced by its default. If `reference` is
  // set, turns off optimization, bf16 and batch splitting.
  SessionOptions Resolved() const;
};

}  // namespace tern
