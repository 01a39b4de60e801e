#include "import/common/unsupported.h"

#include "base/strings.h"

namespace tern::import {
namespace {

constexpr size_t kPlacesShown = 5;

}  // namespace

void UnsupportedOperators::Add(const std::string& op, const std::string& place) {
  Found& found = found_[op];
  ++found.count;
  if (found.places.size() < kPlacesShown) found.places.push_back(place);
}

Status UnsupportedOperators::status() const {
  if (found_.empty()) return {};
  std::string text = StrCat("the model uses ", found_.size(), " operator(s) that Tern does not support:");
  for (const auto& [name, found] : found_) {
    text += StrCat("\n  ", name, " x", found.count, " at ", Join(found.places, ", "));
    if (static_cast<size_t>(found.count) > found.places.size()) text += ", …";
  }
  text += "\n  docs/howto/custom_ops.md shows how to define or add an operator";
  return Unsupported(text);
}

}  // namespace tern::import
