// A sub-command of `tern`, one per file: declares its options, then runs.
#pragma once
#include <memory>

#include "base/status.h"
#include "tools/args.h"

namespace tern::tools {

class Tool {
 public:
  virtual ~Tool() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual const char* examples() const = 0;  // shown below the options
  virtual void Declare(Args& args) = 0;
  // Returns the exit code: 0, or 1 for a wrong result. The caller prints an error and exits with 2.
  virtual Result<int> Run(const Args& args) = 0;
};

}  // namespace tern::tools

// Defines a command's constructor; the build finds these lines and registers them.
// TERN_TOOL(Convert) { return std::make_unique<ConvertTool>(); }
#define TERN_TOOL(Name) std::unique_ptr<Tool> TernTool_##Name()
