// Imports loops. Unrolls short loops with a known number of iterations. Other loops become the op Loop.
#pragma once
#include "import/torch/script/interpreter.h"

namespace tern::torch::script {

class LoopImporter {
 public:
  LoopImporter(Interpreter& interpreter, Frame& frame) : in_(interpreter), frame_(frame) {}

  Status Start(const Statement& statement);
  Status Next();  // an iteration of the frame's innermost unrolled loop is done

 private:
  Status StartFor(const Statement& statement);
  Status StartWhile(const Statement& statement);
  Status StartIteration();

  Interpreter& in_;
  Frame& frame_;
};

}  // namespace tern::torch::script
