// The epilogue of ops that accumulate products (MatMul, Conv, ConvTranspose): y = activation(sums +
// residual). It is computed before the sums are rounded to the type of y. One node with an epilogue replaces
// three nodes and needs only one pass over memory.
#pragma once
#include <cstdint>

#include "ir/eval_context.h"
#include "ir/infer_context.h"

namespace tern {

// The values after kGeluTanh are the float functions of Unary, then those of Activation.
enum class Epilogue : uint8_t { kNone, kClip, kGelu, kGeluTanh };

const std::vector<const char*>& EpilogueNames();
double EpilogueValue(Epilogue activation, double alpha, double beta, double x);

// A member of an op's attributes. The last input of the op is "residual".
struct EpilogueAttrs {
  Epilogue activation = Epilogue::kNone;
  float act_alpha = 1, act_beta = 0;
  template <class V> void Visit(V& v) {
    v.Enum("activation", activation, EpilogueNames(), "function applied to the sums, including the residual");
    v("act_alpha", act_alpha, "first parameter of the activation, as in Activation; clip: the lower bound");
    v("act_beta", act_beta, "second parameter of the activation, as in Activation; clip: the upper bound");
  }
  double operator()(double x) const { return EpilogueValue(activation, act_alpha, act_beta, x); }
};

// Checks the residual against the result's shape and type, and the activation against the type. If `type` is
// unknown, sets it to the residual's type.
Status InferEpilogue(const EpilogueAttrs& attrs, InferContext& c, const Shape& y, DType& type);

// Add the residual to `sums`, which have the dims `dims` of the result, and apply the activation. Integers
// have no activation.
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<double>& sums);
void ApplyEpilogue(const EpilogueAttrs& attrs, EvalContext& c, const Dims& dims, std::vector<uint64_t>& sums);

// For OpDef::flops. The bias and the residual each add one FLOP per element of the result. The activation
// adds as many FLOPs as the op that computes only this activation.
std::optional<double> EpilogueFlops(const Node& node);

}  // namespace tern
