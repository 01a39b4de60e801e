// A bar on stderr for anything that takes longer than a second; silent where nobody watches.
#pragma once
#include <string>

#include "tools/timing.h"

namespace tern::tools {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();  // wipes the line
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
