#include "data/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <chrono>

#include "data/tokenizer/scanners.h"

namespace tern::data {
namespace {

// Limits for one match. The expressions of published tokenizers need a few hundred steps.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kHeapLimitKiB = 64 * 1024;
constexpr size_t kJitStackBytes = 8 << 20;
// The clock is read after every 64 searches, and after each search that finds nothing. To limit the time
// between two readings, a search tries at most this many start positions.
constexpr size_t kStartsPerSearch = 1 << 14;
constexpr std::chrono::seconds kTimeLimit{10};

class Literal : public Pattern {
 public:
  explicit Literal(std::string text) : text_(std::move(text)) {}
  Status FindAll(std::string_view text, std::vector<ByteSpan>& matches) const override {
    matches.clear();
    for (size_t i = text.find(text_); i != text.npos; i = text.find(text_, i + text_.size()))
      matches.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(i + text_.size())});
    return {};
  }

 private:
  std::string text_;
};

class Scan : public Pattern {
 public:
  explicit Scan(Scanner scanner) : scanner_(scanner) {}
  Status FindAll(std::string_view text, std::vector<ByteSpan>& matches) const override {
    matches.clear();
    const CodePointTable& classes = CharClasses();
    for (size_t i = 0; i < text.size();) {
      const size_t end = NextMatch(scanner_, classes, text, i);
      matches.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(end)});
      i = end;
    }
    return {};
  }

 private:
  Scanner scanner_;
};

std::string ErrorText(int code) {
  PCRE2_UCHAR text[160] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

template <class T, void (*kFree)(T*)> struct Freed {
  void operator()(T* p) const { kFree(p); }
};
using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code, pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>;
using CompileContext =
    std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context, pcre2_compile_context_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack, pcre2_jit_stack_free>>;

// The data that one thread needs for a search.
struct Search {
  MatchData match;
  MatchContext context{pcre2_match_context_create(nullptr)};
  JitStack stack;

  explicit Search(const pcre2_code* code) : match(pcre2_match_data_create_from_pattern(code, nullptr)) {
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKiB);
  }
  // Returns PCRE2's result for a search from `start`.
  int Run(const pcre2_code* code, std::string_view text, size_t start) {
    pcre2_set_offset_limit(context.get(), start + kStartsPerSearch);
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    int rc = pcre2_match(code, subject, text.size(), start, PCRE2_NO_UTF_CHECK, match.get(), context.get());
    if (rc != PCRE2_ERROR_JIT_STACKLIMIT || stack) return rc;
    stack.reset(pcre2_jit_stack_create(32 * 1024, kJitStackBytes, nullptr));
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    return pcre2_match(code, subject, text.size(), start, PCRE2_NO_UTF_CHECK, match.get(), context.get());
  }
};

class Expression : public Pattern {
 public:
  Expression(Code code, std::string source) : code_(std::move(code)), source_(std::move(source)) {}

  Status FindAll(std::string_view text, std::vector<ByteSpan>& matches) const override {
    matches.clear();
    Search search(code_.get());
    const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
    size_t start = 0;
    for (size_t searches = 1; start <= text.size(); ++searches) {
      if (searches % 64 == 0 && std::chrono::steady_clock::now() > deadline)
        return Failed("takes more than 10 seconds", text);
      const int rc = search.Run(code_.get(), text, start);
      if (rc == PCRE2_ERROR_NOMATCH) {
        start = Forward(text, start + kStartsPerSearch);
        searches |= 63;  // a long search is followed by a look at the clock
        continue;
      }
      if (rc < 0) return Failed(ErrorText(rc), text);
      const PCRE2_SIZE* found = pcre2_get_ovector_pointer(search.match.get());
      start = Take({static_cast<uint32_t>(found[0]), static_cast<uint32_t>(found[1])}, text, start, matches);
    }
    return {};
  }

 private:
  Status Failed(std::string_view reason, std::string_view text) const {
    return ResourceExhausted("the regular expression '", source_, "' ", reason, " on a text of ", text.size(),
                             " bytes");
  }
  // Returns the first start of a code point at or after position i.
  static size_t Forward(std::string_view text, size_t i) {
    while (i < text.size() && IsContinuation(text[i])) ++i;
    return i;
  }
  // Stores the match, unless it is empty and begins where the last one ends. Returns where the next search
  // starts.
  static size_t Take(ByteSpan found, std::string_view text, size_t start, std::vector<ByteSpan>& matches) {
    const bool empty = found.end <= found.begin;
    if (empty && !matches.empty() && matches.back().end == found.end) return Forward(text, start + 1);
    matches.push_back({found.begin, std::max(found.begin, found.end)});
    return matches.back().end;
  }

  Code code_;
  std::string source_;
};

}  // namespace

std::unique_ptr<Pattern> MakeLiteral(std::string text) { return std::make_unique<Literal>(std::move(text)); }

Result<std::unique_ptr<Pattern>> CompilePattern(const std::string& expression, bool scanners) {
  if (const auto scanner = KnownScanner(expression); scanner && scanners)
    return std::unique_ptr<Pattern>(std::make_unique<Scan>(*scanner));
  TERN_ASSIGN(const std::string translated, TranslateExpression(expression));
  CompileContext context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 100);
  pcre2_set_max_pattern_length(context.get(), 1 << 20);
  int error = 0;
  PCRE2_SIZE at = 0;
  const uint32_t options =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_USE_OFFSET_LIMIT | PCRE2_NEVER_BACKSLASH_C;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options, &error,
                          &at, context.get()));
  if (!code)
    return InvalidModel("the regular expression '", expression, "' is invalid near position ", at, ": ",
                        ErrorText(error));
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // without it, matching is slower but equal
  return std::unique_ptr<Pattern>(std::make_unique<Expression>(std::move(code), expression));
}

Result<std::unique_ptr<Pattern>> ParsePattern(const JsonNode& node) {
  if (const auto text = node.Find("String")) {
    TERN_ASSIGN(std::string literal, text->String());
    if (literal.empty()) return CompilePattern(literal);  // matches between all characters
    return MakeLiteral(std::move(literal));
  }
  TERN_ASSIGN(const std::string expression, node.StringField("Regex"));
  auto pattern = CompilePattern(expression);
  if (!pattern.ok()) return pattern.TakeStatus().While(StrCat("reading ", node.path()));
  return pattern;
}

}  // namespace tern::data
