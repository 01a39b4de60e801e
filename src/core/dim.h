// A dimension: a number, an expression over named symbols (`N`, `2*H+1`, `floordiv(H-1,2)+1`), or unknown.
// Expressions are stored as polynomials in canonical form, so that equal expressions compare equal and print
// the same text.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace tern {

using SymbolValues = std::map<std::string, int64_t>;

class Dim {
 public:
  Dim() = default;                                         // unknown
  Dim(int64_t v) : value_(v), state_(State::kConstant) {}  // NOLINT: implicit on purpose
  Dim(const Dim&);
  Dim(Dim&&) noexcept;
  Dim& operator=(const Dim&);
  Dim& operator=(Dim&&) noexcept;
  ~Dim();
  static Dim Symbol(const std::string& name);
  static Dim Unknown() { return {}; }
  // Parses the text form that ToString returns. Also accepts the operators and function names of Python and
  // sympy (dim_parse.cc). `?` is unknown.
  static Result<Dim> Parse(std::string_view text);

  bool known() const { return state_ == State::kConstant; }
  bool unknown() const { return state_ == State::kUnknown; }
  bool symbolic() const { return state_ == State::kExpression; }
  int64_t value() const;  // requires known()
  bool Is(int64_t v) const { return known() && value_ == v; }
  std::string ToString() const;
  // Returns nullopt if a symbol has no value, or if the result is undefined or overflows.
  std::optional<int64_t> Evaluate(const SymbolValues& symbols) const;
  // Replaces the symbols in `symbols` by their values. Other symbols remain.
  Dim Substitute(const SymbolValues& symbols) const;
  void CollectSymbols(std::vector<std::string>& out) const;
  // Returns a lower bound that is valid if every symbol is at least 0, or nullopt if no bound is found.
  std::optional<int64_t> LowerBound() const;
  bool NonNegative() const { return LowerBound().value_or(-1) >= 0; }

  // Returns true if the dims are provably equal. An unknown dim equals no dim, not even another unknown dim.
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim FloorDiv(const Dim& a, const Dim& b);
  friend Dim CeilDiv(const Dim& a, const Dim& b);
  friend Dim Mod(const Dim& a, const Dim& b);
  friend Dim Max(const Dim& a, const Dim& b);
  friend Dim Min(const Dim& a, const Dim& b);

 private:
  enum class State : uint8_t { kUnknown, kConstant, kExpression };
  struct Polynomial;
  struct Atom;
  friend struct DimAlgebra;
  int64_t value_ = 0;
  State state_ = State::kUnknown;
  std::shared_ptr<const Polynomial> poly_;
};

Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
Dim FloorDiv(const Dim& a, const Dim& b);
Dim CeilDiv(const Dim& a, const Dim& b);
Dim Mod(const Dim& a, const Dim& b);
Dim Max(const Dim& a, const Dim& b);
Dim Min(const Dim& a, const Dim& b);

}  // namespace tern

extern template class std::vector<tern::Dim>;
