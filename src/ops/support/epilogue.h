// The epilogue of ops that accumulate products (MatMul, Conv, ConvTranspose), applied before rounding: y =
// activation(sums + residual). It replaces three nodes by one, with one pass over memory.
#pragma once
#include <cstdint>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// The enumerators after these are the float functions of Unary, then those of Activation.
enum class Epilogue : uint8_t { kNone, kClip, kGelu, kGeluTanh };

const std::vector<const char*>& EpilogueNames();
double EpilogueValue(Epilogue activation, double alpha, double beta, double x);

// Part of an op's attributes; the op's last input is "residual".
struct EpilogueAttrs {
  Epilogue activation = Epilogue::kNone;
  float act_alpha = 1, act_beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("activation", activation, EpilogueNames(), "function applied to the sums, including the residual");
    v("act_alpha", act_alpha, "parameter of activation, as in Activation; clip: the lower bound");
    v("act_beta", act_beta, "second parameter of activation; clip: the upper bound");
  }
  double operator()(double x) const { return EpilogueValue(activation, act_alpha, act_beta, x); }
};

// Checks the residual against the result's shape and type, and the activation against the type. Sets the type
// if only the residual knows it.
Status InferEpilogue(const EpilogueAttrs& attrs, InferContext& c, const Shape& y, DType& type);

// sums have the result's dims. Integers support a residual only.
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<double>& sums);
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<uint64_t>& sums);

// For OpDef::flops: one per element for the bias and one for the residual; an activation counts as the
// separate op does.
std::optional<double> EpilogueFlops(const Node& node);

}  // namespace tern
