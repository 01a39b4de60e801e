#include "ir/token_reader.h"

#include <charconv>

#include "ir/float_text.h"

namespace tern {

Status TokenReader::Unexpected(std::string_view wanted) const {
  const std::string got = Now().kind == Token::Kind::kEnd
                              ? "the end"
                              : StrCat("'", Now().sigil ? std::string(1, Now().sigil) : "", Now().text, "'");
  return InvalidArgument("expected ", wanted, ", got ", got, " at ", LineAndColumn(source_, Now().at));
}
Status TokenReader::Expect(std::string_view text) {
  return Eat(text) ? Status() : Unexpected(StrCat("'", text, "'"));
}

Result<std::string> TokenReader::ExpectText() {
  if (Now().kind != Token::Kind::kText) return Unexpected("a quoted text");
  return tokens_[at_++].text;
}
Result<Token> TokenReader::ExpectValue() {
  if (Now().kind != Token::Kind::kValue) return Unexpected("a value such as %x");
  return tokens_[at_++];
}

// Passes the source text up to the closing bracket to the type parser.
Result<Type> TokenReader::ReadType() {
  const size_t begin = Now().at;
  if (Eat("unknown")) return Type();
  if (Now().kind != Token::Kind::kWord) return Unexpected("a type");
  ++at_;
  int depth = 0;
  do {
    if (Is("(") || Is("[")) ++depth;
    if (Is(")") || Is("]")) --depth;
    if (Now().kind == Token::Kind::kEnd) return Unexpected("the rest of a type");
    ++at_;
  } while (depth > 0);
  auto type = Type::Parse(WithoutSpace(source_.substr(begin, tokens_[at_ - 1].at + 1 - begin)));
  if (!type.ok()) return InvalidArgument(type.status().message(), " at ", LineAndColumn(source_, begin));
  return type;
}

Result<Tensor> TokenReader::Elements(const Type& type) {
  const size_t begin = Now().at;
  if (!type.tensor() || !type.shape.fully_known())
    return InvalidArgument("a constant needs a known shape at ", LineAndColumn(source_, begin));
  const Dims dims = type.shape.Concrete();
  const auto count = CheckedCount(dims, type.dtype);
  if (!count) return InvalidArgument("impossible dims at ", LineAndColumn(source_, begin));
  TERN_TRY(Expect("("));
  if (Is("..."))
    return InvalidArgument("the elements of this constant were left out when the graph was printed, at ",
                           LineAndColumn(source_, Now().at));
  std::vector<Token> items;
  while (!Is(")")) {
    if (!items.empty()) TERN_TRY(Expect(","));
    items.push_back(Now());
    TERN_ASSIGN(items.back().text, NumberText("an element"));
    if (!IsComplex(type.dtype) || !Eat(":")) continue;
    TERN_ASSIGN(const std::string imaginary, NumberText("an imaginary part"));
    items.back().text += ":" + imaginary;
  }
  TERN_TRY(Expect(")"));
  if (static_cast<int64_t>(items.size()) != *count)
    return InvalidArgument(type.ToString(), " needs ", *count, " elements, but has ", items.size(), " at ",
                           LineAndColumn(source_, begin));
  Tensor t(type.dtype, dims);
  for (size_t i = 0; i < items.size(); ++i) TERN_TRY(StoreElement(t, static_cast<int64_t>(i), items[i]));
  return t;
}

Status TokenReader::StoreElement(Tensor& t, int64_t i, const Token& item) {
  const auto bad = [&] {
    return InvalidArgument("'", item.text, "' is not a ", DTypeName(t.dtype()), " at ",
                           LineAndColumn(source_, item.at));
  };
  if (t.dtype() == DType::kString) {
    if (item.kind != Token::Kind::kText) return bad();
    t.data<std::string>()[i] = item.text;
    return {};
  }
  if (IsComplex(t.dtype())) {
    const auto texts = SplitText(item.text, ':');
    Tensor parts = ComplexParts(t);
    const bool good = texts.size() == 2 && StoreFloatText(parts, 2 * i, texts[0]) &&
                      StoreFloatText(parts, 2 * i + 1, texts[1]);
    return good ? Status() : bad();
  }
  if (IsFloat(t.dtype())) return StoreFloatText(t, i, item.text) ? Status() : bad();
  int64_t v = item.text == "true";
  if (t.dtype() == DType::kBool && (item.text == "true" || item.text == "false")) {
  } else if (t.dtype() == DType::kU64) {
    uint64_t big = 0;
    const char* end = item.text.data() + item.text.size();
    if (const auto read = std::from_chars(item.text.data(), end, big);
        read.ec != std::errc() || read.ptr != end)
      return bad();
    v = static_cast<int64_t>(big);
  } else if (!ParseInt(item.text, v)) {
    return bad();
  }
  StoreLong(t, i, v);
  return LoadLong(t, i) == v ? Status() : bad();  // fails if v is out of the type's range
}

// Consumes the next token and returns its text. For a NaN the text includes the bits, `nan(0x…)`.
Result<std::string> TokenReader::NumberText(std::string_view wanted) {
  if (Now().kind == Token::Kind::kEnd) return Unexpected(wanted);
  std::string text = tokens_[at_++].text;
  if (text != "nan" || !Eat("(")) return text;
  text += "(" + Now().text + ")";
  if (Now().kind != Token::Kind::kNumber) return Unexpected("the bits of a NaN");
  ++at_;
  TERN_TRY(Expect(")"));
  return text;
}

Status TokenReader::Attributes(AttrList& attrs) {
  if (!Eat("{")) return {};
  for (bool first = true; !Is("}"); first = false) {
    if (!first) TERN_TRY(Expect(","));
    if (Now().kind != Token::Kind::kWord) return Unexpected("an attribute");
    const std::string name = tokens_[at_++].text;
    TERN_TRY(Expect("="));
    TERN_ASSIGN(AttrValue value, AttrFromText());
    attrs.emplace_back(name, std::move(value));
  }
  return Expect("}");
}

Result<AttrValue> TokenReader::AttrFromText() {
  const Token t = Now();
  if (Is("[")) return AttrListFromText();
  if (t.kind == Token::Kind::kText) {
    ++at_;
    return AttrValue(t.text);
  }
  if (t.kind == Token::Kind::kWord && tokens_[at_ + 1].text == "[" && ParseDType(t.text)) {
    TERN_ASSIGN(Type type, ReadType());
    TERN_ASSIGN(Tensor tensor, Elements(type));
    return AttrValue(std::move(tensor));
  }
  ++at_;
  if (t.kind == Token::Kind::kWord && (t.text == "true" || t.text == "false"))
    return AttrValue(t.text == "true");
  if (t.kind == Token::Kind::kWord && ParseDType(t.text)) return AttrValue(*ParseDType(t.text));
  int64_t i = 0;
  if (t.kind == Token::Kind::kNumber && ParseInt(t.text, i)) return AttrValue(i);
  --at_;
  if (t.kind != Token::Kind::kNumber && t.kind != Token::Kind::kWord)
    return Unexpected("an attribute's value");
  const size_t begin = at_;
  TERN_ASSIGN(const std::string text, NumberText("an attribute's value"));
  Tensor number(DType::kF32, {});  // attributes are single precision
  if (StoreFloatText(number, 0, text)) return AttrValue(LoadDouble(number, 0));
  at_ = begin;
  return Unexpected("an attribute's value");
}

Result<AttrValue> TokenReader::AttrListFromText() {
  TERN_TRY(Expect("["));
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> texts;
  for (bool first = true; !Is("]"); first = false) {
    if (!first) TERN_TRY(Expect(","));
    if (Is("[")) return Unexpected("a number or text");
    TERN_ASSIGN(AttrValue v, AttrFromText());
    if (auto* i = std::get_if<int64_t>(&v))
      ints.push_back(*i), floats.push_back(static_cast<double>(*i));
    else if (auto* d = std::get_if<double>(&v))
      floats.push_back(*d);
    else if (auto* s = std::get_if<std::string>(&v))
      texts.push_back(*s);
    else
      return Unexpected("a number or text");
  }
  TERN_TRY(Expect("]"));
  if (!texts.empty())
    return floats.empty()
               ? Result<AttrValue>(AttrValue(texts))
               : InvalidArgument("a list mixes numbers and texts at ", LineAndColumn(source_, Now().at));
  if (ints.size() == floats.size()) return AttrValue(ints);
  return AttrValue(floats);
}

}  // namespace tern
