// Binds the inputs of QConv and QMatMul to the epilogue of the integer kernels (kernels/cpu/byte).
#pragma once
#include <string>

#include "kernels/cpu/byte/byte_panels.h"
#include "ops/quant/integer.h"
#include "runtime/bind/support.h"

namespace tern {

// Computes the epilogue's scale and bias per column. Does so in Resize if scales, zero points and bias are
// known, otherwise in every run.
class ByteBound {
 public:
  explicit ByteBound(const char* op) : form_(QuantizedFormOf(op)) {}

  // Returns why the kernels do not support the types, the weights or the residual, or an empty string. The
  // weights are a matrix of `depth` rows and `columns` columns; `row` and `column` are its strides.
  static std::string WhyNot(const QuantizedForm& form, const KernelQuery& q, int64_t row, int64_t column,
                            int64_t depth, int64_t columns);
  // Returns the weights and their zero points, for packing.
  static cpu::ByteWeights Weights(const PrepareContext& c);
  // Returns the inputs that are packed.
  static std::vector<int> PackedInputs(const PrepareContext& c);

  // `packed` are the packed weights. The epilogue of a run uses scratch memory at offset `bytes`. Returns the
  // offset behind this memory.
  size_t Resize(const KernelQuery& q, const int8_t* packed, int64_t columns, size_t bytes);
  cpu::ByteEpilogue For(const RunContext& c) const;
  int32_t XZero(const RunContext& c) const;

 private:
  // Sets the residual of an 8-bit result.
  void SetResidual(const RunContext& c, cpu::ByteEpilogue& e) const;
  // Reads the inputs of a query or of a run.
  template <class Inputs> void Fill(const Inputs& in, float* scales, int32_t* bias) const;

  const QuantizedForm* form_;
  const int8_t* packed_ = nullptr;
  int64_t columns_ = 0;
  DType x_ = DType::kU8, y_ = DType::kU8;
  BoundsAttrs activation_;
  RealBounds real_bounds_;
  bool residual_first_ = false;
  bool known_ = false;  // scales_ and bias_ are valid for all runs
  std::vector<float> scales_;
  std::vector<int32_t> bias_;
  size_t at_ = 0;
};

}  // namespace tern
