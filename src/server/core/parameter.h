// Named values that a request or a response carries, as in the v2 protocol.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tern::server {

using ParameterValue = std::variant<bool, int64_t, double, std::string>;
// In the order of the request. Each name occurs once. A list is fast enough because a request has few
// parameters.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

inline const ParameterValue* FindParameter(const Parameters& parameters, std::string_view name) {
  for (const auto& [key, value] : parameters)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace tern::server
