// Data that outlives the plan it was made in.
#pragma once
#include "core/datum.h"

namespace tern {

// The same data, contiguous, with copies of all bytes that are only borrowed (from an arena or a caller).
Datum Owned(Datum datum);

// A copy that shares no bytes with the original.
Datum Copied(const Datum& datum);

}  // namespace tern
