// Shows a progress bar on stderr, if stderr is a terminal and the operation takes more than one second.
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
  void Show(double share);  // `share` is the completed fraction of the operation, from 0 to 1

 private:
  std::string title_;
  Stopwatch watch_;
  bool terminal_;
  double shown_ = 0;  // when the bar was last drawn, in ms since the start; 0 if never
};

}  // namespace tern::tools
