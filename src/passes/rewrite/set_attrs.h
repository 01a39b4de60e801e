// Sets attributes that an op is known to have. CHECKs that they exist, because a missing attribute is a bug
// in the rule.
#pragma once
#include "ir/builder.h"

namespace tern {

inline void SetAttr(Attrs& attrs, const std::string& name, const AttrValue& value) {
  const Status status = attrs.Set(name, value);
  TERN_CHECK(status.ok(), status.message());
}

inline Attrs WithAttrs(Attrs attrs, const AttrList& changes) {
  for (const auto& [name, value] : changes) SetAttr(attrs, name, value);
  return attrs;
}

}  // namespace tern
