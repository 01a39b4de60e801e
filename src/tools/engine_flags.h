// Flags that say how a model runs. Their names, help and ranges are the same in all commands, and all of them
// end in the one SessionOptions.
#pragma once
#include <string>

#include "runtime/options.h"
#include "tools/args.h"

namespace tern::tools {

// --level: how far a command optimizes the model before it runs it.
struct LevelOption {
  void Declare(Args& args);
  Level level() const { return *ParseLevel(name); }
  std::string name = "layout";
};

// --precision: what may be rounded to make it faster.
struct PrecisionOption {
  void Declare(Args& args);
  Precision precision() const { return *ParsePrecision(name); }
  std::string name = "fp32";
};

class EngineFlags {
 public:
  enum Flag : unsigned {
    kThreads = 1,
    kLevel = 2,
    kPrecision = 4,
    kTune = 8,  // --tune, --cache-dir
    kReference = 16,
    kAll = 31,
  };
  void Declare(Args& args, unsigned flags = kAll);
  // What was given, checked. Commands ask before they load a model.
  Result<SessionOptions> Options(const Args& args) const;

 private:
  unsigned declared_ = 0;
  int64_t threads_ = 0, tune_ms_ = 0;
  LevelOption level_;
  PrecisionOption precision_;
  std::string cache_dir_;
  bool reference_ = false;
};

// "bf16" or "fp32": what these options round to on this machine.
const char* PrecisionInUse(const SessionOptions& options);

}  // namespace tern::tools
