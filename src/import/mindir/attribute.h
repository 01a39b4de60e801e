// Converts attributes of MindIR to Items.
#pragma once
#include "import/mindir/item.h"
#include "import/mindir/proto_tensor.h"

namespace tern::mindir {

// Attributes since version 1 have a type. In version 0, `ref_attr_name` describes the structure, such as
// "scalar:Tuple[value1,value2,]".
Result<Item> ItemFromAttribute(const pb::AttributeProto& proto, import::ExternalFiles* files);

}  // namespace tern::mindir
