#include "import/tensorflow/edge.h"

namespace tern::tensorflow {

const Type& Edge::type() const {
  static const Type unknown;
  if (value) return value->type;
  return channels_first ? channels_first->type : unknown;
}

}  // namespace tern::tensorflow
