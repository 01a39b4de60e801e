#include "import/tensorflow/op_table.h"

#include "base/strings.h"

namespace tern::tensorflow {
namespace {

struct Row {
  const char *name, *outputs, *defaults;
};
constexpr Row kRows[] = {
#define TERN_TF_OP(name, outputs, defaults) {#name, outputs, defaults},
#include "import/tensorflow/ops_a_c.inc"
#include "import/tensorflow/ops_d_l.inc"
#include "import/tensorflow/ops_m_r.inc"
#include "import/tensorflow/ops_s_z.inc"
#undef TERN_TF_OP
};

OutputArg ParseOutput(const std::string& text) {
  const size_t mark = text.find_first_of("*@");
  if (mark == std::string::npos) return {text, "", ""};
  const std::string name = text.substr(0, mark), attr = text.substr(mark + 1);
  return text[mark] == '*' ? OutputArg{name, attr, ""} : OutputArg{name, "", attr};
}

// The table is part of Tern, so numbers in it always parse.
int64_t IntOf(const std::string& text) {
  int64_t v = 0;
  ParseInt(text, v);
  return v;
}

float FloatOf(const std::string& text) {
  double v = 0;
  ParseDouble(text, v);
  return static_cast<float>(v);
}

std::vector<std::string> Items(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : SplitText(text, ',');
}

void ParseList(char kind, const std::string& text, pb::AttrValue::ListValue& list) {
  for (const std::string& item : Items(text)) {
    if (kind == 'i') list.add_i(IntOf(item));
    if (kind == 'f') list.add_f(FloatOf(item));
    if (kind == 's') list.add_s(item);
    if (kind == 'b') list.add_b(IntOf(item) != 0);
    if (kind == 't') list.add_type(static_cast<pb::DataType>(IntOf(item)));
  }
}

void ParseShape(const std::string& text, pb::TensorShapeProto& shape) {
  if (text == "?")
    shape.set_unknown_rank(true);
  else
    for (const std::string& item : Items(text)) shape.add_dim()->set_size(IntOf(item));
}

pb::AttrValue ParseValue(const std::string& text) {
  pb::AttrValue v;
  const size_t colon = text.find(':');
  const std::string rest = text.substr(colon + 1);
  switch (text[0]) {
    case 's':
      v.set_s(rest);
      break;
    case 'i':
      v.set_i(IntOf(rest));
      break;
    case 'f':
      v.set_f(FloatOf(rest));
      break;
    case 'b':
      v.set_b(rest == "1");
      break;
    case 't':
      v.set_type(static_cast<pb::DataType>(IntOf(rest)));
      break;
    case 'h':
      ParseShape(rest, *v.mutable_shape());
      break;
    default:
      ParseList(text[1], rest, *v.mutable_list());
  }
  return v;
}

OpInfo ParseRow(const Row& row) {
  OpInfo info;
  for (const std::string& text : SplitText(row.outputs, ' '))
    if (!text.empty()) info.outputs.push_back(ParseOutput(text));
  for (const std::string& text : SplitText(row.defaults, ';')) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos)
      info.defaults[text.substr(0, equals)] = ParseValue(text.substr(equals + 1));
  }
  return info;
}

}  // namespace

const OpInfo* FindOpInfo(std::string_view op) {
  static const auto* table = [] {
    auto* t = new std::map<std::string, OpInfo, std::less<>>();
    for (const Row& row : kRows) (*t)[row.name] = ParseRow(row);
    return t;
  }();
  const auto found = table->find(op);
  return found == table->end() ? nullptr : &found->second;
}

std::vector<std::string> AllOps() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace tern::tensorflow
