// Calibration data.
#pragma once
#include <string>

#include "base/status.h"
#include "core/datum.h"

namespace tern::compress {

// The samples are read one at a time, so that memory does not depend on their number.
class Samples {
 public:
  virtual ~Samples() = default;
  virtual size_t size() const = 0;
  // Returns one datum per input of the model.
  virtual Result<DatumList> Get(size_t i) = 0;
  virtual std::string NameOf(size_t i) const = 0;  // for messages
};

}  // namespace tern::compress
