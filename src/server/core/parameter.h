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
// Few per request, so a list: in the order of the request, each name once.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

inline const ParameterValue* FindParameter(const Parameters& parameters, std::string_view name) {
  for (const auto& [key, value] : parameters)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace tern::server
