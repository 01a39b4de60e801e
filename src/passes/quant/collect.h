// Collects the inputs and attributes of a quantized op from the nodes that it replaces.
#pragma once
#include "ops/quant/quantized.h"
#include "passes/rewrite/rewrite.h"

namespace tern {

// Copies the attributes of the float op to those of the quantized op. Skips an attribute that the quantized
// op does not have if its value is the default. Returns false if another attribute cannot be copied.
bool TakeAttrs(const Node& real, Attrs& attrs);

// Functions that return false set `why` to the reason.
class InputCollector {
 public:
  InputCollector(const QuantizedForm& form, const Node& real) : form_(form), real_(real) {}

  bool Operands();
  // Takes scale and zero point of the Quantize at the root of the rewrite.
  void Result(Rewrite& r);
  // The result is f32.
  void RealResult();
  // Takes the bias of the float op. If the result is quantized, a constant bias in f32 is rounded to i32.
  // Call it after Result or RealResult.
  bool Bias(Rewrite& r);
  // `residual` is made by Dequantize, or is f32 if the result is f32. Call it after Bias.
  bool Residual(Value* residual);

  const std::vector<Value*>& inputs() const { return inputs_; }
  const char* why = "";

 private:
  bool No(const char* reason) {
    why = reason;
    return false;
  }
  bool PerColumn(const Dim& size) const;
  bool IntegerBias(const Node& dequantize);
  bool RoundedBias(Rewrite& r, const Value& bias);

  const QuantizedForm& form_;
  const Node& real_;
  bool to_f32_ = false;
  std::vector<Value*> inputs_;
};

}  // namespace tern
