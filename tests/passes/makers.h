// The building blocks of random graphs. A maker is a function that adds nodes to a graph. It adds none if the
// graph has no suitable operands.
#pragma once
#include <vector>

#include "grow.h"

namespace tern {

using Maker = void (*)(Grower&);
// A maker that is listed several times is more probable.
const std::vector<Maker>& Makers();

std::vector<Maker> ElementwiseMakers();
std::vector<Maker> ShapeMakers();
std::vector<Maker> LayerMakers();     // matrix products, convolutions, pooling, reductions
std::vector<Maker> FragmentMakers();  // patterns of the recompose rules, and graphs that almost match
std::vector<Maker> ControlMakers();

}  // namespace tern
