// Limits the recursion of the interpreter.
#pragma once

namespace tern::torch::script {

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool ok() const { return depth_ <= kMaxDepth; }

 private:
  static constexpr int kMaxDepth = 1000;
  int& depth_;
};

}  // namespace tern::torch::script
