#include "import/torch/export/json.h"

#include <limits>

namespace tern::torch {

Result<double> FloatOf(Json json) {
  double v = 0;
  if (!json.get(v)) return v;
  std::string_view text;
  if (json.get(text)) return WrongJson("a number");
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (text == "Infinity" || text == "inf") return kInf;
  if (text == "-Infinity" || text == "-inf") return -kInf;
  if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return WrongJson("a number");
}

Result<Union> UnionOf(Json json) {
  TERN_ASSIGN(const auto object, ObjectOf(json));
  for (const auto member : object)
    if (member.key != "$type") return Union{std::string(member.key), member.value};
  return WrongJson("an object with a member");
}

}  // namespace tern::torch
