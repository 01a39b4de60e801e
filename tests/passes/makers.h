// The building blocks of random graphs. A maker adds nodes, or nothing if the graph lacks suitable operands.
#pragma once
#include <vector>

#include "grow.h"

namespace tern {

using Maker = void (*)(Grower&);
// More probable makers are listed several times.
const std::vector<Maker>& Makers();

std::vector<Maker> ElementwiseMakers();
std::vector<Maker> ShapeMakers();
std::vector<Maker> LayerMakers();     // products, convolutions, pools, reductions
std::vector<Maker> FragmentMakers();  // the patterns of the recompose rules, and near misses
std::vector<Maker> ControlMakers();

}  // namespace tern
