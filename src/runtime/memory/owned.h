// Copies data so that it outlives the plan that computed it.
#pragma once
#include "core/datum.h"

namespace tern {

// Returns the same data in contiguous tensors. Copies borrowed bytes (of an arena or a caller) and shares
// owned bytes.
Datum Owned(Datum datum);

// Returns a copy that shares no bytes with the original.
Datum Copied(const Datum& datum);

}  // namespace tern
