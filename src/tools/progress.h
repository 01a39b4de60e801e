// A progress bar on stderr for operations over one second; silent if stderr is not a terminal.
#pragma once
#include <string>

#include "tools/timing.h"

namespace tern::tools {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void Show(double share);  // 0 to 1

 private:
  std::string title_;
  Stopwatch watch_;
  bool terminal_;
  double shown_ = 0;  // ms at the last drawing; 0: nothing drawn
};

}  // namespace tern::tools
