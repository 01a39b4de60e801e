// Flags that control how a model runs. They have the same names, help texts and ranges in all commands. Each
// flag sets a field of SessionOptions.
#pragma once
#include <string>

#include "runtime/options.h"
#include "tools/args.h"

namespace tern::tools {

// The flag --level sets how far the command optimizes the model before it runs.
struct LevelOption {
  void Declare(Args& args);
  Level level() const { return *ParseLevel(name); }
  std::string name = "layout";
};

// The flag --precision sets whether operands of products may be rounded to bf16.
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
    kTune = 8,  // declares --tune and --cache-dir
    kReference = 16,
    kAll = 31,
  };
  void Declare(Args& args, unsigned flags = kAll);
  // Checks the flags and returns them as SessionOptions. Commands call this before they load a model, so that
  // a mistake is reported at once.
  Result<SessionOptions> Options(const Args& args) const;

 private:
  unsigned declared_ = 0;
  int64_t threads_ = 0, tune_ms_ = 0;
  LevelOption level_;
  PrecisionOption precision_;
  std::string cache_dir_;
  bool reference_ = false;
};

// Returns "bf16" or "fp32", the precision of products of floats in a session with these options on this
// machine.
const char* PrecisionInUse(const SessionOptions& options);

}  // namespace tern::tools
