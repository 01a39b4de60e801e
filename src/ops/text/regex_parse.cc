#include "ops/text/regex_parse.h"

#include "ops/text/regex_sets.h"
#include "ops/text/utf8.h"

namespace tern {
namespace {

constexpr int64_t kMaxRepeat = 1000;
constexpr size_t kMaxPattern = 1 << 16;

struct Flags {
  bool fold = false, dot_all = false, lines = false;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : codes_(CodePoints(pattern)) {}

  Result<RegexTree> Run() {
    if (codes_.size() > kMaxPattern)
      return InvalidModel("a regular expression has ", codes_.size(), " characters, but at most ",
                          kMaxPattern, " are allowed");
    TERN_ASSIGN(RegexTree tree, Choice(0));
    if (!AtEnd()) return Error("')' without '('");
    return tree;
  }

 private:
  using Tree = RegexTree;
  using Kind = RegexTree::Kind;

  template <class... A> Status Error(const A&... a) const {
    return InvalidModel("regular expression, character ", at_, ": ", a...);
  }
  bool AtEnd() const { return at_ >= codes_.size(); }
  bool Peek(uint32_t c, size_t ahead = 0) const {
    return at_ + ahead < codes_.size() && codes_[at_ + ahead] == c;
  }
  bool Take(uint32_t c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }

  static Tree Assertion(RegexAssert condition) {
    Tree t;
    t.kind = Kind::kAssert;
    t.condition = condition;
    return t;
  }
  Tree SetTree(RegexSet set) const {
    Tree t;
    t.kind = Kind::kSet;
    t.set = flags_.fold ? FoldedSet(set) : std::move(set);
    return t;
  }
  static Tree Many(Kind kind, std::vector<Tree> parts) {
    if (parts.size() == 1) return std::move(parts[0]);
    Tree t;
    t.kind = parts.empty() ? Kind::kEmpty : kind;
    t.parts = std::move(parts);
    return t;
  }

  Result<Tree> Choice(int depth) {
    if (depth > kMaxRegexDepth) return Error("groups nest deeper than ", kMaxRegexDepth);
    const Flags saved_flags = flags_;
    std::vector<Tree> alternatives;
    do {
      TERN_ASSIGN(Tree alternative, Sequence(depth));
      alternatives.push_back(std::move(alternative));
    } while (Take('|'));
    flags_ = saved_flags;
    return Many(Kind::kChoice, std::move(alternatives));
  }

  Result<Tree> Sequence(int depth) {
    std::vector<Tree> parts;
    while (!AtEnd() && !Peek('|') && !Peek(')')) {
      TERN_ASSIGN(Tree part, Repeated(depth));
      parts.push_back(std::move(part));
    }
    return Many(Kind::kSequence, std::move(parts));
  }

  Result<Tree> Repeated(int depth) {
    TERN_ASSIGN(Tree atom, Atom(depth));
    int64_t low = 0, high = 0;
    if (Take('*'))
      high = -1;
    else if (Take('+'))
      low = 1, high = -1;
    else if (Take('?'))
      high = 1;
    else if (!Counts(low, high))
      return atom;
    Take('?');  // "a*?" equals "a*", because FullMatch ignores laziness and Find returns the longest match
    if (low > kMaxRepeat || high > kMaxRepeat || (high >= 0 && low > high))
      return Error("a repetition count is above ", kMaxRepeat, ", or the minimum is above the maximum");
    if (Peek('*') || Peek('+') || Peek('?')) return Error("a repetition cannot be repeated");
    Tree t;
    t.kind = Kind::kRepeat;
    t.low = low;
    t.high = high;
    t.parts.push_back(std::move(atom));
    return t;
  }

  // Reads {2}, {2,} or {2,5}. Other text in braces is literal.
  bool Counts(int64_t& low, int64_t& high) {
    const size_t begin = at_;
    if (Take('{') && Number(low)) {
      high = low;
      if (Take(',') && !Number(high)) high = -1;
      if (Take('}')) return true;
    }
    at_ = begin;
    return false;
  }

  bool Number(int64_t& v) {
    const size_t first = at_;
    for (v = 0; !AtEnd() && codes_[at_] >= '0' && codes_[at_] <= '9' && at_ - first < 9; ++at_)
      v = v * 10 + static_cast<int64_t>(codes_[at_] - '0');
    return at_ > first;
  }

  Result<Tree> Atom(int depth) {
    if (Take('(')) return Group(depth);
    if (Peek('*') || Peek('+') || Peek('?')) return Error("nothing to repeat");
    if (Take('[')) return Bracket();
    if (Take('.')) return flags_.dot_all ? SetTree({{0, kMaxCode}}) : SetTree(InvertedSet({{'\n', '\n'}}));
    if (Take('^')) return Assertion(flags_.lines ? RegexAssert::kLineStart : RegexAssert::kTextStart);
    if (Take('$')) return Assertion(flags_.lines ? RegexAssert::kLineEnd : RegexAssert::kTextEnd);
    if (Take('\\')) return Escape();
    const uint32_t c = codes_[at_++];
    return SetTree({{c, c}});
  }

  Result<Tree> Group(int depth) {
    const Flags saved_flags = flags_;
    if (Take('?')) {
      const bool named = (Peek('P') && Peek('<', 1)) || (Peek('<') && !Peek('=', 1) && !Peek('!', 1));
      if (named) {
        while (!AtEnd() && !Peek('>')) ++at_;
        if (!Take('>')) return Error("a group's name has no end");
      } else {
        TERN_ASSIGN(bool only_flags, ReadFlags());
        if (only_flags) return Tree();  // the flags apply until the enclosing group ends
      }
    }
    TERN_ASSIGN(Tree x, Choice(depth + 1));
    if (!Take(')')) return Error("'(' without ')'");
    flags_ = saved_flags;
    return x;
  }

  // Reads the flags i, m, s and U after "(?", up to ':' or ')'. Flags after a '-' are switched off. Returns
  // true if the flags end with ')'.
  Result<bool> ReadFlags() {
    bool on = true;
    while (!AtEnd()) {
      const uint32_t c = codes_[at_++];
      if (c == ':') return false;
      if (c == ')') return true;
      if (c == '-' && on)
        on = false;
      else if (c == 'i')
        flags_.fold = on;
      else if (c == 's')
        flags_.dot_all = on;
      else if (c == 'm')
        flags_.lines = on;
      else if (c != 'U')
        return Error(c == '=' || c == '!' || c == '<' ? "look-around is not supported" : "unknown group");
    }
    return Error("'(' without ')'");
  }

  Result<Tree> Escape() {
    if (Take('A')) return Assertion(RegexAssert::kTextStart);
    if (Take('z')) return Assertion(RegexAssert::kTextEnd);
    if (Take('b')) return Assertion(RegexAssert::kWordBoundary);
    if (Take('B')) return Assertion(RegexAssert::kNotWordBoundary);
    if (Take('Q')) return Quoted();
    RegexSet set;
    if (!AtEnd() && EscapedSet(codes_[at_], set)) {
      ++at_;
      return SetTree(std::move(set));
    }
    TERN_ASSIGN(uint32_t c, EscapedCode());
    return SetTree({{c, c}});
  }

  Tree Quoted() {
    std::vector<Tree> parts;
    for (; !AtEnd() && !(Peek('\\') && Peek('E', 1)); ++at_)
      parts.push_back(SetTree({{codes_[at_], codes_[at_]}}));
    if (!AtEnd()) at_ += 2;
    return Many(Kind::kSequence, std::move(parts));
  }

  bool PeekOctal() const { return !AtEnd() && codes_[at_] >= '0' && codes_[at_] <= '7'; }

  // Reads one character after a backslash.
  Result<uint32_t> EscapedCode() {
    if (AtEnd()) return Error("a backslash at the end");
    const uint32_t c = codes_[at_++];
    static const char kNames[] = "ntrfva", kCodes[] = "\n\t\r\f\v\a";
    for (int i = 0; kNames[i]; ++i)
      if (c == static_cast<uint32_t>(kNames[i])) return static_cast<uint32_t>(kCodes[i]);
    if (c == 'x') return HexCode();
    if (c >= '0' && c <= '7') {
      if (c != '0' && !PeekOctal()) return Error("back references are not supported");
      uint32_t code = c - '0';
      for (int i = 0; i < 2 && PeekOctal(); ++i) code = code * 8 + (codes_[at_++] - '0');
      return code;
    }
    if (c < 128 && IsWordCode(c) && c != '_')
      return Error("escape '\\", static_cast<char>(c), "' is not supported");
    return c;
  }

  Result<uint32_t> HexCode() {
    const bool braces = Take('{');
    uint32_t code = 0;
    int digits = 0;
    for (; !AtEnd() && digits < (braces ? 6 : 2); ++digits, ++at_) {
      const uint32_t c = codes_[at_], lower = c | 32;
      if (c >= '0' && c <= '9')
        code = code * 16 + (c - '0');
      else if (lower >= 'a' && lower <= 'f')
        code = code * 16 + (lower - 'a' + 10);
      else
        break;
    }
    if (digits == 0 || (!braces && digits != 2) || (braces && !Take('}')) || code > kMaxCode)
      return Error("bad \\x escape");
    return code;
  }

  Result<Tree> Bracket() {
    const bool invert = Take('^');
    RegexSet set;
    for (bool first = true; first || !Peek(']'); first = false) {
      if (AtEnd()) return Error("'[' without ']'");
      TERN_TRY(BracketItem(set));
    }
    ++at_;
    set = SortedSet(std::move(set));
    if (!invert) return SetTree(std::move(set));
    Tree t;
    t.kind = Kind::kSet;
    t.set = InvertedSet(flags_.fold ? FoldedSet(set) : set);
    return t;
  }

  Status BracketItem(RegexSet& set) {
    RegexSet named;
    if (Peek('[') && Peek(':', 1)) {
      TERN_TRY(PosixItem(named));
    } else if (Peek('\\') && at_ + 1 < codes_.size() && EscapedSet(codes_[at_ + 1], named)) {
      at_ += 2;
    } else {
      CodeRange range{0, 0};
      TERN_ASSIGN(range.low, BracketCode());
      range.high = range.low;
      if (Peek('-') && at_ + 1 < codes_.size() && !Peek(']', 1)) {
        ++at_;
        TERN_ASSIGN(range.high, BracketCode());
      }
      if (range.high < range.low) return Error("a range whose end is before its start");
      named.push_back(range);
    }
    set.insert(set.end(), named.begin(), named.end());
    return {};
  }

  Result<uint32_t> BracketCode() {
    if (AtEnd()) return Error("'[' without ']'");
    if (Take('\\')) return EscapedCode();
    return codes_[at_++];
  }

  Status PosixItem(RegexSet& set) {
    std::string name;
    size_t end = at_ + 2;
    while (end < codes_.size() && codes_[end] != ':' && codes_[end] < 128)
      name += static_cast<char>(codes_[end++]);
    if (end + 1 >= codes_.size() || codes_[end + 1] != ']' || !PosixSet(name, set))
      return Error("unknown class [:", name, ":]");
    at_ = end + 2;
    return {};
  }

  std::vector<uint32_t> codes_;
  size_t at_ = 0;
  Flags flags_;
};

}  // namespace

Result<RegexTree> ParseRegex(std::string_view pattern) { return Parser(pattern).Run(); }

}  // namespace tern
