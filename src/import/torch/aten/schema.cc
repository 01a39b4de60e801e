#include "import/torch/aten/schema.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

namespace tern::torch {
namespace {

using Kind = Arg::Kind;
using Type = Parameter::Type;

constexpr const char* kSchemas[] = {
#define TERN_ATEN(text) text,
#include "import/torch/aten/schemas_a_k.inc"
#include "import/torch/aten/schemas_l_q.inc"
#include "import/torch/aten/schemas_r_z.inc"
#include "import/torch/aten/schemas_vision.inc"
#undef TERN_ATEN
};

// Reads the text of a schema from the left.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool Take(std::string_view token) {
    Space();
    if (!StartsWith(text_, token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::string_view Word() {
    Space();
    size_t n = 0;
    while (n < text_.size() && (isalnum(static_cast<unsigned char>(text_[n])) || text_[n] == '_')) ++n;
    return Cut(n);
  }
  std::string_view Until(std::string_view stops) {
    return Cut(std::min(text_.find_first_of(stops), text_.size()));
  }
  bool empty() {
    Space();
    return text_.empty();
  }

 private:
  void Space() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
  }
  std::string_view Cut(size_t n) {
    const std::string_view out = text_.substr(0, n);
    text_.remove_prefix(n);
    return out;
  }
  std::string_view text_;
};

Type TypeOfWord(std::string_view word) {
  static const std::map<std::string_view, Type> kTypes = {{"Tensor", Type::kTensor},
                                                          {"int", Type::kInt},
                                                          {"SymInt", Type::kInt},
                                                          {"float", Type::kFloat},
                                                          {"Scalar", Type::kScalar},
                                                          {"bool", Type::kBool},
                                                          {"str", Type::kString},
                                                          {"ScalarType", Type::kDType},
                                                          {"Layout", Type::kLayout},
                                                          {"Device", Type::kDevice},
                                                          {"MemoryFormat", Type::kMemoryFormat}};
  const auto it = kTypes.find(word);
  return it == kTypes.end() ? Type::kOther : it->second;
}

// Reads "Tensor(a!)?", "int[2]", "Tensor?[]" and the like.
void ReadType(Reader& r, Parameter& p) {
  p.type = TypeOfWord(r.Word());
  if (r.Take("(")) {
    const std::string_view alias = r.Until(")");
    r.Take(")");
    p.written = alias.find('!') != std::string_view::npos;
    p.alias = std::string(alias.substr(0, alias.find_first_of("!| ")));
  }
  bool optional = r.Take("?");
  if (r.Take("[")) {
    const std::string_view length = r.Until("]");
    r.Take("]");
    p.list = true;
    p.optional_items = optional;
    optional = r.Take("?");
    if (!length.empty()) ParseInt(length, p.length);
  }
  p.optional = optional;
}

Result<Arg> ReadLiteral(Reader& r) {
  if (r.Take("None")) return Arg::None();
  if (r.Take("True")) return Arg::Bool(true);
  if (r.Take("False")) return Arg::Bool(false);
  if (r.Take("\"")) {
    Arg text = Arg::String(std::string(r.Until("\"")));
    r.Take("\"");
    return text;
  }
  if (r.Take("[")) {
    std::vector<Arg> items;
    while (!r.Take("]")) {
      TERN_ASSIGN(Arg item, ReadLiteral(r));
      items.push_back(std::move(item));
      if (!r.Take(",") && r.empty()) return InvalidArgument("a list is not closed");
    }
    return Arg::List(std::move(items));
  }
  const std::string word(r.Until(",)] "));
  int64_t integer = 0;
  if (ParseInt(word, integer)) return Arg::Int(integer);
  double real = 0;
  if (ParseDouble(word.empty() || word.back() != '.' ? word : word + "0", real)) return Arg::Float(real);
  return InvalidArgument("'", word, "' is not a default");
}

Result<Parameter> ReadParameter(Reader& r) {
  Parameter p;
  ReadType(r, p);
  p.name = std::string(r.Word());
  if (!r.Take("=")) return p;
  p.has_default = true;
  TERN_ASSIGN(p.otherwise, ReadLiteral(r));
  return p;
}

struct Table {
  std::map<std::string, std::vector<Schema>, std::less<>> by_name;
};

const Table& Schemas() {
  static const Table* table = [] {
    auto* t = new Table();
    for (const char* text : kSchemas) {
      auto schema = ParseSchema(text);
      TERN_CHECK(schema.ok(), text);
      t->by_name[schema->name].push_back(std::move(*schema));
    }
    return t;
  }();
  return *table;
}

// Derives the schema of an in-place operator, "add_", from that of the functional one: the first argument is
// written and returned.
Schema InPlace(const Schema& functional) {
  Schema s = functional;
  s.name += "_";
  s.parameters[0].name = "self";
  s.parameters[0].alias = "a";
  s.parameters[0].written = true;
  Parameter result;
  result.type = Type::kTensor;
  result.alias = "a";
  result.written = true;
  s.returns = {result};
  return s;
}

const std::vector<Schema>* FindAll(std::string_view name) {
  const auto& known = Schemas().by_name;
  if (const auto it = known.find(name); it != known.end()) return &it->second;
  if (name.size() < 2 || name.back() != '_' || name[name.size() - 2] == '_') return nullptr;
  static auto* derived = new std::map<std::string, std::vector<Schema>, std::less<>>();
  static auto* mutex = new std::mutex();
  const std::lock_guard lock(*mutex);
  if (const auto it = derived->find(name); it != derived->end()) return &it->second;
  const auto functional = known.find(name.substr(0, name.size() - 1));
  if (functional == known.end()) return nullptr;
  std::vector<Schema> schemas;
  for (const Schema& s : functional->second)
    if (!s.parameters.empty() && s.parameters[0].type == Type::kTensor && !s.parameters[0].list &&
        s.returns.size() == 1)
      schemas.push_back(InPlace(s));
  if (schemas.empty()) return nullptr;
  return &(derived->emplace(std::string(name), std::move(schemas)).first->second);
}

}  // namespace

Result<Schema> ParseSchema(std::string_view text) {
  Schema s;
  Reader r(text);
  const std::string_view full = r.Until("(");
  s.name = std::string(full.substr(0, full.find('.')));
  if (s.name.size() < full.size()) s.overload = std::string(full.substr(s.name.size() + 1));
  if (!r.Take("(")) return InvalidArgument("'", text, "' has no arguments");
  bool keyword_only = false;
  while (!r.Take(")")) {
    if (r.Take("*")) {
      keyword_only = true;
    } else {
      TERN_ASSIGN(Parameter p, ReadParameter(r));
      p.keyword_only = keyword_only;
      s.parameters.push_back(std::move(p));
    }
    if (!r.Take(",") && r.empty()) return InvalidArgument("'", text, "' is not closed");
  }
  if (!r.Take("->")) return InvalidArgument("'", text, "' has no results");
  const bool several = r.Take("(");
  while (!r.empty() && !r.Take(")")) {
    TERN_ASSIGN(Parameter p, ReadParameter(r));
    s.returns.push_back(std::move(p));
    if (!several) break;
    r.Take(",");
  }
  return s;
}

int Schema::Find(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].name == parameter) return static_cast<int>(i);
  return -1;
}

std::string Schema::FullName() const { return overload.empty() ? name : StrCat(name, ".", overload); }

const Schema* FindSchema(std::string_view name, std::string_view overload) {
  const auto* all = FindAll(name);
  if (!all) return nullptr;
  for (const Schema& s : *all)
    if (s.overload == overload) return &s;
  return nullptr;
}

std::vector<const Schema*> OverloadsOf(std::string_view name) {
  std::vector<const Schema*> out;
  if (const auto* all = FindAll(name))
    for (const Schema& s : *all) out.push_back(&s);
  return out;
}

}  // namespace tern::torch
