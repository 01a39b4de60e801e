// What ops that sum up products (MatMul, Conv, ConvTranspose) do to their sums before these are rounded:
// y = activation(sums + residual). One node instead of three, and one pass over memory.
#pragma once
#include <cstdint>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// The enumerators after these are the functions of Unary from floats to floats, then those of Activation.
enum class Epilogue : uint8_t { kNone, kClip, kGelu, kGeluTanh };

const std::vector<const char*>& EpilogueNames();
double EpilogueValue(Epilogue activation, double alpha, double beta, double x);

// Part of an op's attributes; the op's last input is "residual".
struct EpilogueAttrs {
  Epilogue activation = Epilogue::kNone;
  float act_alpha = 1, act_beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("activation", activation, EpilogueNames(), "function of the sums, with the residual in them");
    v("act_alpha", act_alpha, "its parameter, as in Activation; clip: the lower bound");
    v("act_beta", act_beta, "its second parameter; clip: the upper bound");
  }
  double operator()(double x) const { return EpilogueValue(activation, act_alpha, act_beta, x); }
};

// The residual against the result's shape and type, the activation against the type. A type that only the
// residual knows is taken from it.
Status InferEpilogue(const EpilogueAttrs& attrs, InferContext& c, const Shape& y, DType& type);

// Sums of the result's dims: integers only take a residual.
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<double>& sums);
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<uint64_t>& sums);

// For OpDef::flops: bias and residual one per element of the result each, an activation as the op of its own.
std::optional<double> EpilogueFlops(const Node& node);

}  // namespace tern
