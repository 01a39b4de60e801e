// Operators on texts. Most texts are messages of errors.
#include <algorithm>

#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

constexpr size_t kMaxText = 1 << 20;

bool IsText(const CallSite& call, size_t args) {
  if (call.args.size() != args) return false;
  return call.args[0].string();
}

std::string TextOf(const Item& item, int depth = 0) {
  if (item.string()) return item.arg.text;
  if (item.none()) return "None";
  if (item.number() && !item.arg.known()) return "?";
  if (item.number() && item.arg.kind == Arg::Kind::kBool) return item.arg.integer ? "True" : "False";
  if (item.number() && item.arg.kind == Arg::Kind::kInt) return StrCat(item.arg.integer);
  if (item.number()) {
    const std::string text = StrCat(item.arg.real);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (!item.list_or_tuple() || depth > 5) return item.Describe();
  std::vector<std::string> parts;
  for (const Item& part : item.cell->items) parts.push_back(TextOf(part, depth + 1));
  return item.Is(Item::Kind::kList) ? StrCat("[", Join(parts, ", "), "]")
                                    : StrCat("(", Join(parts, ", "), ")");
}

Outcome Text(std::string text) {
  if (text.size() > kMaxText)
    return Unsupported("a text of the model has more than ", kMaxText, " characters");
  return Done(Item(Arg::String(std::move(text))));
}

Outcome ToText(Interpreter&, const CallSite& call) {
  return call.args.size() == 1 ? Text(TextOf(call.args[0])) : NotMine();
}

Outcome Format(Interpreter&, const CallSite& call) {
  if (call.args.empty() || !call.args[0].string()) return NotMine();
  std::string out;
  size_t next = 1;
  const std::string& form = call.args[0].arg.text;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form.compare(i, 2, "{}") == 0 && next < call.args.size()) {
      out += TextOf(call.args[next++]);
      ++i;
    } else {
      out += form[i];
    }
  }
  return Text(std::move(out));
}

Outcome TextLength(Interpreter&, const CallSite& call) {
  if (!IsText(call, 1)) return NotMine();
  return Done(Item(Arg::Int(static_cast<int64_t>(call.args[0].arg.text.size()))));
}

Outcome TextConcat(Interpreter&, const CallSite& call) {
  if (!IsText(call, 2) || !call.args[1].string()) return NotMine();
  return Text(call.args[0].arg.text + call.args[1].arg.text);
}

Outcome Compare(Interpreter&, const CallSite& call) {
  if (!IsText(call, 2)) return NotMine();
  const bool equal = call.args[1].string() && call.args[0].arg.text == call.args[1].arg.text;
  if (call.op == "aten::eq" || call.op == "aten::ne")
    return Done(Item(Arg::Bool(equal == (call.op == "aten::eq"))));
  if (!call.args[1].string()) return NotMine();
  const bool less = call.args[0].arg.text < call.args[1].arg.text;
  return Done(Item(Arg::Bool(call.op == "aten::lt"   ? less
                             : call.op == "aten::le" ? less || equal
                             : call.op == "aten::gt" ? !less && !equal
                                                     : !less)));
}

Outcome Find(Interpreter&, const CallSite& call) {
  if (!IsText(call, 2) || !call.args[1].string()) return NotMine();
  const std::string &text = call.args[0].arg.text, &part = call.args[1].arg.text;
  const size_t at = text.find(part);
  if (call.op == "aten::find")
    return Done(Item(Arg::Int(at == std::string::npos ? -1 : static_cast<int64_t>(at))));
  const bool yes = call.op == "aten::startswith" ? StartsWith(text, part)
                   : call.op == "aten::endswith" ? EndsWith(text, part)
                                                 : at != std::string::npos;
  return Done(Item(Arg::Bool(yes)));
}

Outcome Index(Interpreter& in, const CallSite& call) {
  if (!IsText(call, 2) || !call.args[1].known_int()) return NotMine();
  const std::string& text = call.args[0].arg.text;
  const auto size = static_cast<int64_t>(text.size());
  int64_t at = call.args[1].arg.integer;
  if (at < 0) at += size;
  if (at < 0 || at >= size) return in.Raise("string index out of range");
  return Text(std::string(1, text[static_cast<size_t>(at)]));
}

Outcome TextSlice(Interpreter&, const CallSite& call) {
  if (call.args.empty() || !call.args[0].string()) return NotMine();
  const std::string& text = call.args[0].arg.text;
  const auto size = static_cast<int64_t>(text.size());
  const auto bound = [&](size_t i, int64_t otherwise) {
    int64_t at = i < call.args.size() && call.args[i].known_int() ? call.args[i].arg.integer : otherwise;
    if (at < 0) at += size;
    return std::clamp<int64_t>(at, 0, size);
  };
  if (call.args.size() > 3 && (!call.args[3].known_int() || call.args[3].arg.integer != 1)) return NotMine();
  const int64_t start = bound(1, 0), end = bound(2, size);
  return Text(start < end ? text.substr(static_cast<size_t>(start), static_cast<size_t>(end - start)) : "");
}

Outcome Case(Interpreter&, const CallSite& call) {
  if (!IsText(call, 1)) return NotMine();
  std::string text = call.args[0].arg.text;
  for (char& c : text) {
    if (call.op == "aten::lower" && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (call.op == "aten::upper" && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return Text(std::move(text));
}

Outcome Strip(Interpreter&, const CallSite& call) {
  if (call.args.empty() || !call.args[0].string()) return NotMine();
  const std::string& text = call.args[0].arg.text;
  const std::string set =
      call.args.size() > 1 && call.args[1].string() ? call.args[1].arg.text : " \t\n\r\f\v";
  const size_t first = call.op == "aten::rstrip" ? 0 : text.find_first_not_of(set);
  const size_t last = call.op == "aten::lstrip" ? text.size() : text.find_last_not_of(set) + 1;
  return Text(first == std::string::npos || first >= last ? "" : text.substr(first, last - first));
}

Outcome TextSplit(Interpreter& in, const CallSite& call) {
  if (!IsText(call, 2) || !call.args[1].string() || call.args[1].arg.text.empty()) return NotMine();
  std::vector<Item> parts;
  const std::string &text = call.args[0].arg.text, &by = call.args[1].arg.text;
  size_t from = 0;
  for (size_t at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
    parts.emplace_back(Arg::String(text.substr(from, at - from)));
    from = at + by.size();
  }
  parts.emplace_back(Arg::String(text.substr(from)));
  return Done(in.NewList(std::move(parts)));
}

Outcome JoinTexts(Interpreter&, const CallSite& call) {
  if (!IsText(call, 2) || !call.args[1].Is(Item::Kind::kList)) return NotMine();
  std::vector<std::string> parts;
  for (const Item& item : call.args[1].cell->items) parts.push_back(TextOf(item));
  return Text(Join(parts, call.args[0].arg.text));
}

Outcome Replace(Interpreter&, const CallSite& call) {
  if (!IsText(call, 3) || !call.args[1].string() || !call.args[2].string() || call.args[1].arg.text.empty())
    return NotMine();
  std::string text = call.args[0].arg.text;
  const std::string &from = call.args[1].arg.text, &to = call.args[2].arg.text;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return Text(std::move(text));
}

Outcome Ord(Interpreter&, const CallSite& call) {
  if (!IsText(call, 1) || call.args[0].arg.text.size() != 1) return NotMine();
  return Done(Item(Arg::Int(static_cast<unsigned char>(call.args[0].arg.text[0]))));
}

Outcome ToInt(Interpreter& in, const CallSite& call) {
  if (!IsText(call, 1)) return NotMine();
  int64_t integer = 0;
  double real = 0;
  const std::string& text = call.args[0].arg.text;
  if (call.op == "aten::Int" && ParseInt(text, integer)) return Done(Item(Arg::Int(integer)));
  if (call.op == "aten::Float" && ParseDouble(text, real)) return Done(Item(Arg::Float(real)));
  return in.Raise(StrCat(QuoteText(text), " is not a number"));
}

}  // namespace

void AddTextBuiltins(BuiltinTable& table) {
  table.Add("aten::str", ToText);
  table.Add("aten::format", Format);
  table.Add("aten::len", TextLength);
  table.Add("aten::add", TextConcat);
  for (const char* op : {"aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge"})
    table.Add(op, Compare);
  for (const char* op : {"aten::find", "aten::startswith", "aten::endswith", "aten::__contains__"})
    table.Add(op, Find);
  table.Add("aten::__getitem__", Index);
  table.Add("aten::slice", TextSlice);
  for (const char* op : {"aten::lower", "aten::upper"}) table.Add(op, Case);
  for (const char* op : {"aten::strip", "aten::lstrip", "aten::rstrip"}) table.Add(op, Strip);
  table.Add("aten::split", TextSplit);
  table.Add("aten::join", JoinTexts);
  table.Add("aten::replace", Replace);
  table.Add("aten::ord", Ord);
  for (const char* op : {"aten::Int", "aten::Float"}) table.Add(op, ToInt);
}

}  // namespace tern::torch::script
