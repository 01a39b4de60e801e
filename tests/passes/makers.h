// The kinds of pieces that random graphs are made of. A maker adds what it can and nothing where its
// ingredients are not there.
#pragma once
#include <vector>

#include "grow.h"

namespace tern {

using Maker = void (*)(Grower&);
// Likelier ones stand there several times.
const std::vector<Maker>& Makers();

std::vector<Maker> ElementwiseMakers();
std::vector<Maker> ShapeMakers();
std::vector<Maker> LayerMakers();     // products, convolutions, pools, reductions
std::vector<Maker> FragmentMakers();  // the spellings that recomposition looks for, and near misses
std::vector<Maker> ControlMakers();

}  // namespace tern
