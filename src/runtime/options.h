// How a model runs: the one set of options. The public Config, the flags of the commands and tests fill it;
// the model, its sessions, the tuner and the plans read it.
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

// An option and its value as its user writes them, for messages: "tune_ms 5". An empty value: the name alone.
using OptionText = std::string (*)(std::string_view option, std::string_view value);
std::string SettingText(std::string_view option, std::string_view value);  // as in Config

struct SessionOptions {
  int threads = 0;         // of the process-wide pool at once; 0: one per core
  int plan_cache = 8;      // plans kept per graph, one per set of input shapes
  bool reference = false;  // every op by its reference evaluator: the oracle, through the same executor
  size_t fold_budget = size_t{256} << 20;  // bytes of constants computed ahead of time
  // Where the values between two steps take more, large batches are done a few items at a time.
  size_t value_cache = size_t{8} << 20;
  size_t memory_limit = 0;  // for intermediate values; 0: the machine's memory
  // For the per-iteration outputs that one Loop or Scan gathers; 0: DefaultCollectLimit(). Such a loop need
  // not end by itself.
  size_t collect_limit = 0;
  const Target* target = nullptr;  // null: the CPU
  Level level = Level::kNone;      // of optimization
  Precision precision = Precision::kF32;
  // Milliseconds for measuring which kernels are the fastest, when plans are made; of a session and its
  // clones together. At most kMaxTuneMs. What is found is kept on disk and read again.
  int64_t tune_ms = 0;
  double tune_within = 3;  // measured are kernels whose estimate is at most so many times the least
  // Where measurements are kept; none: DefaultCacheDir(), empty: nowhere. A folder that is given is read even
  // if nothing may be measured.
  std::optional<std::string> cache_dir = std::nullopt;
  // Which inputs and outputs are states, that live between runs: "auto" (pairs past and present of the usual
  // exporters, by their names), "none", pairs "past=present,…"; empty: those that the graph declares.
  std::string states = {};
  bool explain = false;       // Session::Choices() says why each node has its kernel
  bool keep_weights = false;  // in memory, also when kernels have packed them: training changes them

  // kInvalidArgument for a value out of range and for options that exclude each other. Names the option, its
  // value and what is allowed.
  Status Validate(OptionText text = SettingText) const;
  // The target, or the CPU; without kernels where the reference evaluator is asked for.
  const Target& TargetOrDefault() const;
  // With defaults in place of zeros, and without what the reference evaluator does not do.
  SessionOptions Resolved() const;
};

}  // namespace tern
