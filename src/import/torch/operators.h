// The operators of PyTorch for `tern ops --format torch`.
#pragma once
#include <vector>

#include "load/format.h"

namespace tern::torch {

std::vector<load::Operator> Operators();

}  // namespace tern::torch
