// A sub-command of `tern`: declares its options, then runs.
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
  // The exit code: 0, or 1 for a wrong result. An error is printed by the caller and exits with 2.
  virtual Result<int> Run(const Args& args) = 0;
};

std::unique_ptr<Tool> MakeRun();
std::unique_ptr<Tool> MakeBench();
std::unique_ptr<Tool> MakeConvert();
std::unique_ptr<Tool> MakeDemo();
std::unique_ptr<Tool> MakeDoctor();
std::unique_ptr<Tool> MakeInspect();
std::unique_ptr<Tool> MakeOps();
std::unique_ptr<Tool> MakeOptimize();
std::unique_ptr<Tool> MakePasses();
std::unique_ptr<Tool> MakeProfile();
std::unique_ptr<Tool> MakeVerify();

}  // namespace tern::tools
