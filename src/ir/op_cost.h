// Helpers that count the work of an op. They return nullopt if a required dim is unknown.
#pragma once
#include <functional>
#include <optional>

#include "ir/op_answers.h"

namespace tern {

struct Value;

// FLOPs per element of a Gelu, and of an Activation or Clip.
constexpr double kGeluFlops = 5, kActivationFlops = 2;

// Returns the number of elements of a tensor, or 0 if v is null.
std::optional<double> ElementsOf(const Value* v);
std::optional<double> DimOf(const Value* v, int axis);  // a negative axis counts from the end
std::optional<double> Times(std::optional<double> a, std::optional<double> b);

// PerOutput returns a rule that counts `flops` per element of output 0. PerInput does so per element
// of input 0.
std::function<CountRule> PerOutput(double flops);
std::function<CountRule> PerInput(double flops);

// Returns the number of multiply-accumulates of a node. The number is 0 if the op has no Macs rule.
std::optional<double> MacsOf(const Node& node);

}  // namespace tern
