// String helpers that build messages without iostreams.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tern {

void AppendText(std::string& out, std::string_view v);
void AppendText(std::string& out, double v);  // the shortest text that parses back to the same value
void AppendText(std::string& out, float v);
void AppendText(std::string& out, long long v);
void AppendText(std::string& out, unsigned long long v);
inline void AppendText(std::string& out, const char* v) { AppendText(out, std::string_view(v)); }
inline void AppendText(std::string& out, const std::string& v) { AppendText(out, std::string_view(v)); }
inline void AppendText(std::string& out, char v) { out.push_back(v); }
inline void AppendText(std::string& out, bool v) { out += v ? "true" : "false"; }
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> void AppendText(std::string& out, T v) {
  if constexpr (std::is_signed_v<T>)
    AppendText(out, static_cast<long long>(v));
  else
    AppendText(out, static_cast<unsigned long long>(v));
}

// One argument of StrCat. It does not own its text, so it must not outlive the call.
class TextPiece {
 public:
  TextPiece(std::string_view v) : kind_(Kind::kText), size_(v.size()) { text_ = v.data(); }  // NOLINT
  TextPiece(const std::string& v) : TextPiece(std::string_view(v)) {}                        // NOLINT
  TextPiece(const char* v) : kind_(Kind::kLiteral) { text_ = v; }                            // NOLINT
  TextPiece(char v) : kind_(Kind::kChar) { int_ = v; }                                       // NOLINT
  TextPiece(bool v) : TextPiece(v ? "true" : "false") {}                                     // NOLINT
  TextPiece(double v) : kind_(Kind::kDouble) { double_ = v; }                                // NOLINT
  TextPiece(float v) : kind_(Kind::kFloat) { float_ = v; }                                   // NOLINT
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  TextPiece(T v) : kind_(std::is_signed_v<T> ? Kind::kInt : Kind::kUnsigned) {  // NOLINT
    int_ = static_cast<long long>(v);
  }
  void AppendTo(std::string& out) const;

 private:
  enum class Kind : uint8_t { kText, kLiteral, kChar, kDouble, kFloat, kInt, kUnsigned };
  Kind kind_;
  union {
    const char* text_;
    double double_;
    float float_;
    long long int_;
  };
  size_t size_ = 0;  // length of text_ for kText
};

std::string LowerCase(std::string text);  // changes only ASCII letters

std::string JoinPieces(std::initializer_list<TextPiece> pieces);

// Returns the concatenation of its arguments as text. Always inlined, so that the binary does not contain one
// function per combination of argument types.
template <class... Args> [[gnu::always_inline]] inline std::string StrCat(const Args&... args) {
  return JoinPieces({TextPiece(args)...});
}

// Join({1, 3, 224}, "x") returns "1x3x224".
std::string Join(const std::vector<int64_t>& values, std::string_view separator);
std::string Join(const std::vector<std::string>& values, std::string_view separator);

std::vector<std::string> SplitText(std::string_view text, char separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);

// The entire text must be one number that the type of `out` can represent. Otherwise these functions return
// false and leave `out` unchanged.
bool ParseInt(std::string_view text, int64_t& out);
bool ParseUnsigned(std::string_view text, uint64_t& out);
bool ParseDouble(std::string_view text, double& out);

// Returns the text in double quotes with \n, \", \\ and \xNN escapes.
std::string QuoteText(std::string_view text);

}  // namespace tern

// strings.cc instantiates these classes, so that other sources do not compile them again.
extern template class std::vector<int64_t>;
extern template class std::vector<std::string>;
