// A sub-command of `tern`. Each sub-command is defined in a separate source file.
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
  // Returns the exit code: 0, or 1 if a check of the command failed. If Run fails, the caller prints the
  // error and exits with 2.
  virtual Result<int> Run(const Args& args) = 0;
};

}  // namespace tern::tools

// Defines the function that creates a command. For example: TERN_TOOL(Convert) { return
// std::make_unique<ConvertTool>(); } The build finds these lines and registers the commands.
#define TERN_TOOL(Name) std::unique_ptr<Tool> TernTool_##Name()
