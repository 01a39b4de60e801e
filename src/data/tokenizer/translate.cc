// Rewrites regular expressions from Oniguruma's syntax, with its classes of characters, to PCRE2's.
#include <cctype>

#include "data/tokenizer/pattern.h"

namespace tern::data {
namespace {

// Members of classes, as they are written between square brackets.
constexpr std::string_view kSpaces =
    "\\x09-\\x0d\\x20\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
constexpr std::string_view kHexDigits = "0-9a-fA-F";
// Besides letters, marks, digits, letter numbers and connectors.
constexpr std::string_view kOtherWordCharacters =
    "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}"
    "\\x{1f170}-\\x{1f189}";

struct Addition {
  std::string_view category, members;
};
constexpr Addition kAdditions[] = {
#include "data/tokenizer/pattern_additions.inc"
};

// Long names of general categories.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {{"Letter", "L"},
                                                                         {"Uppercase_Letter", "Lu"},
                                                                         {"Lowercase_Letter", "Ll"},
                                                                         {"Titlecase_Letter", "Lt"},
                                                                         {"Modifier_Letter", "Lm"},
                                                                         {"Other_Letter", "Lo"},
                                                                         {"Mark", "M"},
                                                                         {"Nonspacing_Mark", "Mn"},
                                                                         {"Spacing_Mark", "Mc"},
                                                                         {"Enclosing_Mark", "Me"},
                                                                         {"Number", "N"},
                                                                         {"Decimal_Number", "Nd"},
                                                                         {"Letter_Number", "Nl"},
                                                                         {"Other_Number", "No"},
                                                                         {"Punctuation", "P"},
                                                                         {"Symbol", "S"},
                                                                         {"Math_Symbol", "Sm"},
                                                                         {"Currency_Symbol", "Sc"},
                                                                         {"Modifier_Symbol", "Sk"},
                                                                         {"Other_Symbol", "So"},
                                                                         {"Separator", "Z"},
                                                                         {"Space_Separator", "Zs"},
                                                                         {"Other", "C"},
                                                                         {"Control", "Cc"},
                                                                         {"Format", "Cf"}};

// The members of a property.
std::string Property(std::string_view name) {
  for (const auto& [long_name, category] : kCategories)
    if (long_name == name) name = category;
  // PCRE2 takes the name of a script alone for its script extensions too.
  if (name.size() > 2 && name != "Any") return StrCat("\\p{sc:", name, "}");
  std::string out = StrCat("\\p{", name, "}");
  for (const Addition& a : kAdditions)
    if (a.category == name) out += a.members;
  return out;
}

// Characters that \w matches, but only outside of a class: fractions and superscripts of Latin-1.
constexpr std::string_view kLatin1Numbers = "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}";

std::string WordCharacters() {
  return StrCat(Property("L"), Property("M"), Property("Nd"), Property("Nl"), Property("Pc"),
                kOtherWordCharacters);
}

// The members of a POSIX class such as [:punct:], or "".
std::string PosixClass(std::string_view name) {
  if (name == "alpha") return "\\p{Alphabetic}";
  if (name == "alnum") return StrCat("\\p{Alphabetic}", Property("Nd"));
  if (name == "digit") return Property("Nd");
  if (name == "lower") return "\\p{Lowercase}";
  if (name == "upper") return "\\p{Uppercase}";
  if (name == "punct") return StrCat(Property("P"), Property("S"));
  if (name == "space") return std::string(kSpaces);
  if (name == "blank") return "\\x09\\p{Zs}";
  if (name == "cntrl") return "\\p{Cc}";
  if (name == "xdigit") return std::string(kHexDigits);
  if (name == "word") return WordCharacters();
  return "";
}

class Translator {
 public:
  explicit Translator(const std::string& in) : in_(in) {}

  Result<std::string> Run() {
    while (at_ < in_.size()) TERN_TRY(One());
    return std::move(out_);
  }

 private:
  char Peek(size_t k = 0) const { return at_ + k < in_.size() ? in_[at_ + k] : '\0'; }
  Status Refuse(std::string_view what) const {
    return Unsupported("the regular expression '", in_, "' has ", what, " at position ", at_,
                       ", which is not supported");
  }

  Status One() {
    switch (Peek()) {
      case '\\':
        return Escape(false);
      case '[':
        return Class();
      case '(':
        return Group();
      case '{':
        out_ += Peek(1) == ',' && std::isdigit(static_cast<unsigned char>(Peek(2))) ? "{0" : "{";
        ++at_;
        return {};
      default:
        out_ += in_[at_++];
        return {};
    }
  }

  // Options of a group, such as (?im-x:...), where m is PCRE2's s.
  Status Group() {
    out_ += '(';
    ++at_;
    if (Peek() == '*') return Refuse("a verb");
    if (Peek() != '?') return {};
    if (Peek(1) == '~') return Refuse("an absence operator");
    size_t end = at_ + 1;
    while (end < in_.size() && (std::isalpha(static_cast<unsigned char>(in_[end])) || in_[end] == '-')) ++end;
    if (end == at_ + 1 || end >= in_.size() || (in_[end] != ':' && in_[end] != ')')) return {};
    for (; at_ < end; ++at_) {
      if (Peek() != '?' && Peek() != '-' && Peek() != 'i' && Peek() != 'm' && Peek() != 'x')
        return Refuse("an unknown option");
      out_ += Peek() == 'm' ? 's' : Peek();
    }
    return {};
  }

  void Put(std::string_view members, bool negated, bool in_class) {
    if (in_class)
      out_ += members;
    else
      out_ += StrCat(negated ? "[^" : "[", members, "]");
  }

  // \b and \B for the word characters of Oniguruma.
  static std::string WordBoundary(bool boundary) {
    const std::string word = StrCat("[", WordCharacters(), kLatin1Numbers, "]");
    const std::string_view yes = boundary ? "!" : "=", no = boundary ? "=" : "!";
    return StrCat("(?:(?<=", word, ")(?", yes, word, ")|(?<!", word, ")(?", no, word, "))");
  }

  Status Escape(bool in_class) {
    const char c = Peek(1);
    if (c == '\0') return Refuse("a backslash at its end");
    const bool negated = std::isupper(static_cast<unsigned char>(c));
    if (in_class && (c == 'W' || c == 'H' || c == 'D' || c == 'P'))
      return Refuse("a negated class inside a class");
    if (c == 'p' || c == 'P') return PropertyEscape(in_class);
    if (c == 'u') return CodePointEscape();
    at_ += 2;
    switch (c) {
      case 's':
      case 'S':
        if (in_class && negated)
          out_ += "\\S\\x{180e}";  // PCRE2 takes U+180E for white space
        else
          Put(kSpaces, negated, in_class);
        return {};
      case 'h':
      case 'H':
        Put(kHexDigits, negated, in_class);
        return {};
      case 'w':
      case 'W':
        Put(in_class ? WordCharacters() : StrCat(WordCharacters(), kLatin1Numbers), negated, in_class);
        return {};
      case 'd':
      case 'D':
        Put(Property("Nd"), negated, in_class);
        return {};
      case 'v':
        out_ += "\\x0b";
        return {};
      case 'b':
      case 'B':
        out_ += in_class ? "\\x08" : WordBoundary(!negated);
        return {};
      default:
        out_ += '\\';
        out_ += c;
        return {};
    }
  }

  // \p{Name}, \p{^Name} or \P{Name}.
  Status PropertyEscape(bool in_class) {
    bool negated = Peek(1) == 'P';
    const size_t close = in_.find('}', at_);
    if (Peek(2) != '{' || close == in_.npos) return Refuse("a property without braces");
    std::string name = in_.substr(at_ + 3, close - at_ - 3);
    if (!name.empty() && name[0] == '^') {
      negated = !negated;
      name.erase(0, 1);
    }
    if (negated && in_class) return Refuse("a negated class inside a class");
    at_ = close + 1;
    Put(Property(name), negated, in_class);
    return {};
  }

  Status CodePointEscape() {
    for (size_t k = 2; k < 6; ++k)
      if (!std::isxdigit(static_cast<unsigned char>(Peek(k)))) return Refuse("an incomplete \\u");
    out_ += StrCat("\\x{", in_.substr(at_ + 2, 4), "}");
    at_ += 6;
    return {};
  }

  Status Class() {
    out_ += in_[at_++];
    if (Peek() == '^') out_ += in_[at_++];
    if (Peek() == ']') {
      out_ += "\\]";
      ++at_;
    }
    while (at_ < in_.size() && Peek() != ']') {
      if (Peek() == '&' && Peek(1) == '&') return Refuse("an intersection of classes");
      if (Peek() == '[' && Peek(1) != ':') return Refuse("a class inside a class");
      if (Peek() == '[') {
        const size_t close = in_.find(":]", at_ + 2);
        if (close == in_.npos) return Refuse("a class without an end");
        const std::string members = PosixClass(in_.substr(at_ + 2, close - at_ - 2));
        if (members.empty()) return Refuse("a POSIX class");
        out_ += members;
        at_ = close + 2;
      } else if (Peek() == '\\') {
        TERN_TRY(Escape(true));
      } else {
        out_ += in_[at_++];
      }
    }
    if (at_ == in_.size()) return Refuse("a class without an end");
    out_ += in_[at_++];
    return {};
  }

  const std::string& in_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> TranslateExpression(const std::string& expression) {
  return Translator(expression).Run();
}

}  // namespace tern::data
