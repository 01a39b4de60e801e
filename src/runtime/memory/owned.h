// Copies of data that outlive the plan which computed them.
#pragma once
#include "core/datum.h"

namespace tern {

// The same data, contiguous. Copies borrowed bytes (of an arena or a caller); shares owned ones.
Datum Owned(Datum datum);

// A copy that shares no bytes with the original.
Datum Copied(const Datum& datum);

}  // namespace tern
