#include "core/dim.h"

#include <algorithm>
#include <array>
#include <cctype>

template class std::vector<tern::Dim>;

namespace tern {

Dim::Dim(const Dim&) = default;
Dim::Dim(Dim&&) noexcept = default;
Dim& Dim::operator=(const Dim&) = default;
Dim& Dim::operator=(Dim&&) noexcept = default;
Dim::~Dim() = default;

// An atom is a symbol such as H, or a function call such as floordiv(H,2). A polynomial is a sum of terms. A
// term is an integer factor times a product of atoms, such as 3*H*W.
struct Dim::Atom {
  std::string key;       // the text form: a call, or the name of a symbol, in quotes if PlainSymbol is false
  std::string name;      // name of a symbol, without quotes
  std::string function;  // empty for a symbol
  std::array<Dim, 2> arguments;
};

struct Dim::Polynomial {
  struct Term {
    std::vector<std::shared_ptr<const Atom>> atoms;
    int64_t factor;
  };
  std::map<std::string, Term>
      terms;  // the key of 3*H*W is "H*W", with sorted atoms; the key of a number is ""
};

namespace {

// Requires b != 0. If a is INT64_MIN, b must not be -1.
int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::optional<int64_t> Apply(std::string_view function, int64_t a, int64_t b) {
  if (function == "max") return std::max(a, b);
  if (function == "min") return std::min(a, b);
  if (b == 0 || a == INT64_MIN) return std::nullopt;  // INT64_MIN cannot be negated
  if (function == "floordiv") return FloorDivide(a, b);
  if (function == "ceildiv") return -FloorDivide(-a, b);
  if (function == "mod") return a - FloorDivide(a, b) * b;
  return std::nullopt;
}

}  // namespace

// An expression beyond these limits becomes an unknown dim. Without limits, a chain of multiplications in a
// model could make an expression arbitrarily large.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxAtoms = 16;      // atoms in one product
constexpr size_t kMaxCallText = 512;  // text of one function call

struct DimAlgebra {
  using Poly = Dim::Polynomial;
  using Term = Poly::Term;

  static Poly ToPoly(const Dim& d) {
    if (d.symbolic()) return *d.poly_;
    Poly p;
    if (d.value_ != 0) p.terms[""] = {{}, d.value_};
    return p;
  }

  static Dim FromPoly(Poly p) {
    for (auto it = p.terms.begin(); it != p.terms.end();)
      it = it->second.factor == 0 ? p.terms.erase(it) : std::next(it);
    if (p.terms.empty()) return Dim(0);
    if (p.terms.size() == 1 && p.terms.begin()->first.empty()) return Dim(p.terms.begin()->second.factor);
    Dim d;
    d.state_ = Dim::State::kExpression;
    d.poly_ = std::make_shared<const Poly>(std::move(p));
    return d;
  }

  static Dim FromAtom(Dim::Atom atom) {
    Poly p;
    const std::string key = atom.key;
    p.terms[key] = {{std::make_shared<const Dim::Atom>(std::move(atom))}, 1};
    return FromPoly(std::move(p));
  }

  static Dim Combine(const Dim& a, const Dim& b, int64_t sign) {
    if (a.unknown() || b.unknown()) return {};
    if (a.known() && b.known()) return CombineNumbers(a.value_, b.value_, sign);
    Poly sum = ToPoly(a);
    for (const auto& [key, term] : ToPoly(b).terms) {
      Term& slot = sum.terms[key];
      slot.atoms = term.atoms;
      int64_t change = 0;
      // A size that overflows 64 bits becomes unknown.
      if (__builtin_mul_overflow(sign, term.factor, &change) ||
          __builtin_add_overflow(slot.factor, change, &slot.factor))
        return {};
    }
    return sum.terms.size() > kMaxTerms ? Dim() : FromPoly(std::move(sum));
  }

  // Numbers need no polynomials. Most dims are numbers, and shape inference computes many of them.
  static Dim CombineNumbers(int64_t a, int64_t b, int64_t sign) {
    int64_t change = 0, sum = 0;
    const bool overflow = __builtin_mul_overflow(sign, b, &change) || __builtin_add_overflow(a, change, &sum);
    return overflow ? Dim() : Dim(sum);
  }

  static Dim MultiplyNumbers(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? Dim() : Dim(product);
  }

  static std::string KeyOf(const std::vector<std::shared_ptr<const Dim::Atom>>& atoms) {
    std::string key;
    for (const auto& atom : atoms) key += (key.empty() ? "" : "*") + atom->key;
    return key;
  }

  static Dim Multiply(const Dim& a, const Dim& b) {
    if (a.Is(0) || b.Is(0)) return Dim(0);
    if (a.unknown() || b.unknown()) return {};
    if (a.known() && b.known()) return MultiplyNumbers(a.value_, b.value_);
    Poly product;
    for (const auto& [ka, ta] : ToPoly(a).terms) {
      for (const auto& [kb, tb] : ToPoly(b).terms) {
        auto atoms = ta.atoms;
        atoms.insert(atoms.end(), tb.atoms.begin(), tb.atoms.end());
        std::sort(atoms.begin(), atoms.end(), [](const auto& x, const auto& y) { return x->key < y->key; });
        if (atoms.size() > kMaxAtoms) return {};
        Term& slot = product.terms[KeyOf(atoms)];
        slot.atoms = std::move(atoms);
        int64_t factor = 0;
        if (__builtin_mul_overflow(ta.factor, tb.factor, &factor) ||
            __builtin_add_overflow(slot.factor, factor, &slot.factor))
          return {};
      }
    }
    return product.terms.size() > kMaxTerms ? Dim() : FromPoly(std::move(product));
  }

  // Returns `a / b` if `b` is one term that divides every term of `a` exactly, or if `a == b`. Otherwise
  // returns nullopt.
  static std::optional<Dim> DivideExactly(const Dim& a, const Dim& b) {
    const Poly pb = ToPoly(b);
    if (pb.terms.size() != 1) return a == b ? std::optional<Dim>(Dim(1)) : std::nullopt;
    const Term& divisor = pb.terms.begin()->second;
    Poly quotient;
    for (const auto& [key, term] : ToPoly(a).terms) {
      if (divisor.factor == 0 || term.factor == INT64_MIN || term.factor % divisor.factor != 0)
        return std::nullopt;
      auto remaining = term.atoms;
      for (const auto& atom : divisor.atoms) {
        auto it = std::find_if(remaining.begin(), remaining.end(),
                               [&](const auto& x) { return x->key == atom->key; });
        if (it == remaining.end()) return std::nullopt;
        remaining.erase(it);
      }
      quotient.terms[KeyOf(remaining)] = {remaining, term.factor / divisor.factor};
    }
    return FromPoly(std::move(quotient));
  }

  static Dim Call(const char* function, const Dim& a, const Dim& b) {
    if (a.unknown() || b.unknown()) return {};
    if (a.known() && b.known()) {
      auto v = Apply(function, a.value_, b.value_);
      return v ? Dim(*v) : Dim();
    }
    std::string key = StrCat(function, "(", a.ToString(), ",", b.ToString(), ")");
    if (key.size() > kMaxCallText) return {};
    return FromAtom({std::move(key), "", function, {a, b}});
  }

  static std::optional<int64_t> Evaluate(const Dim::Atom& atom, const SymbolValues& symbols) {
    if (atom.function.empty()) {
      auto it = symbols.find(atom.name);
      return it == symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
    }
    auto a = atom.arguments[0].Evaluate(symbols), b = atom.arguments[1].Evaluate(symbols);
    return a && b ? Apply(atom.function, *a, *b) : std::nullopt;
  }

  static Dim Substitute(const Dim::Atom& atom, const SymbolValues& symbols) {
    if (atom.function.empty()) {
      auto it = symbols.find(atom.name);
      return it == symbols.end() ? Dim::Symbol(atom.name) : Dim(it->second);
    }
    const Dim a = atom.arguments[0].Substitute(symbols), b = atom.arguments[1].Substitute(symbols);
    return Named(atom.function, a, b);
  }

  static Dim Named(const std::string& f, const Dim& a, const Dim& b) {
    if (f == "floordiv") return FloorDiv(a, b);
    if (f == "ceildiv") return CeilDiv(a, b);
    if (f == "mod") return Mod(a, b);
    if (f == "max") return Max(a, b);
    return Min(a, b);
  }

  static void Symbols(const Dim::Atom& atom, std::vector<std::string>& out) {
    if (!atom.function.empty()) {
      for (const Dim& d : atom.arguments) d.CollectSymbols(out);
    } else if (std::find(out.begin(), out.end(), atom.name) == out.end()) {
      out.push_back(atom.name);
    }
  }

  static std::optional<int64_t> LowerBound(const Dim::Atom& atom) {
    if (atom.function.empty()) return 0;
    const auto a = atom.arguments[0].LowerBound(), b = atom.arguments[1].LowerBound();
    if (atom.function == "max") return a && b ? std::max(*a, *b) : a ? a : b;
    if (atom.function == "min") return a && b ? std::optional<int64_t>(std::min(*a, *b)) : std::nullopt;
    if (!atom.arguments[1].known())
      return a && b && *a >= 0 && *b >= 0 ? std::optional<int64_t>(0) : std::nullopt;
    if (*b <= 0) return std::nullopt;
    if (atom.function == "mod") return 0;
    return a ? Apply(atom.function, *a, *b) : std::nullopt;
  }

  template <class F> static void EachTerm(const Dim& d, F f) {
    for (const auto& [key, term] : d.poly_->terms) f(key, term);
  }
};

// Returns whether the name needs no quotes in the text form.
static bool PlainSymbol(const std::string& name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '\''; });
}

Dim Dim::Symbol(const std::string& name) {
  return DimAlgebra::FromAtom({PlainSymbol(name) ? name : QuoteText(name), name, {}, {}});
}

int64_t Dim::value() const {
  TERN_CHECK(known(), "dimension is not a number: ", ToString());
  return value_;
}

std::string Dim::ToString() const {
  if (unknown()) return "?";
  if (known()) return StrCat(value_);
  std::string out, constant;
  DimAlgebra::EachTerm(*this, [&](const std::string& key, const auto& term) {
    const int64_t f = term.factor;
    const std::string sign = f < 0 ? "-" : "+";
    const uint64_t magnitude = f < 0 ? uint64_t{0} - static_cast<uint64_t>(f) : static_cast<uint64_t>(f);
    if (key.empty())
      constant = StrCat(sign, magnitude);
    else if (magnitude == 1)
      out += sign + key;
    else
      out += StrCat(sign, magnitude, "*", key);
  });
  out += constant;
  return out[0] == '+' ? out.substr(1) : out;
}

std::optional<int64_t> Dim::Evaluate(const SymbolValues& symbols) const {
  if (known()) return value_;
  if (unknown()) return std::nullopt;
  std::optional<int64_t> sum = 0;
  DimAlgebra::EachTerm(*this, [&](const std::string&, const auto& term) {
    int64_t product = term.factor;
    for (const auto& atom : term.atoms) {
      auto v = DimAlgebra::Evaluate(*atom, symbols);
      if (!v || __builtin_mul_overflow(product, *v, &product)) return void(sum.reset());
    }
    if (sum && __builtin_add_overflow(*sum, product, &*sum)) sum.reset();
  });
  return sum;
}

Dim Dim::Substitute(const SymbolValues& symbols) const {
  if (!symbolic()) return *this;
  Dim sum(0);
  DimAlgebra::EachTerm(*this, [&](const std::string&, const auto& term) {
    Dim product(term.factor);
    for (const auto& atom : term.atoms) product = product * DimAlgebra::Substitute(*atom, symbols);
    sum = sum + product;
  });
  return sum;
}

void Dim::CollectSymbols(std::vector<std::string>& out) const {
  if (!symbolic()) return;
  DimAlgebra::EachTerm(*this, [&](const std::string&, const auto& term) {
    for (const auto& atom : term.atoms) DimAlgebra::Symbols(*atom, out);
  });
}

std::optional<int64_t> Dim::LowerBound() const {
  if (known()) return value_;
  if (unknown()) return std::nullopt;
  std::optional<int64_t> sum = 0;
  DimAlgebra::EachTerm(*this, [&](const std::string& key, const auto& term) {
    int64_t product = term.factor;
    if (!key.empty() && product < 0) sum.reset();
    for (const auto& atom : term.atoms) {
      const auto low = DimAlgebra::LowerBound(*atom);
      // With a >= 2 and b >= 3, a*b >= 6. But with a >= -2 and b >= 3, a*b has no lower bound. So a negative
      // bound is usable only if the term has one atom.
      const bool bounds_product = low && (*low >= 0 || term.atoms.size() == 1);
      if (!bounds_product || __builtin_mul_overflow(product, *low, &product)) return void(sum.reset());
    }
    if (sum && __builtin_add_overflow(*sum, product, &*sum)) sum.reset();
  });
  return sum;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.unknown() || b.unknown() || a.state_ != b.state_) return false;
  if (a.known()) return a.value_ == b.value_;
  return a.poly_ == b.poly_ || a.ToString() == b.ToString();
}

Dim operator+(const Dim& a, const Dim& b) { return DimAlgebra::Combine(a, b, 1); }
Dim operator-(const Dim& a, const Dim& b) { return DimAlgebra::Combine(a, b, -1); }
Dim operator*(const Dim& a, const Dim& b) { return DimAlgebra::Multiply(a, b); }

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (b.Is(1)) return a;
  if (a.symbolic() && !b.unknown())
    if (auto q = DimAlgebra::DivideExactly(a, b)) return *q;
  return DimAlgebra::Call("floordiv", a, b);
}

Dim CeilDiv(const Dim& a, const Dim& b) {
  if (b.Is(1)) return a;
  if (a.symbolic() && !b.unknown())
    if (auto q = DimAlgebra::DivideExactly(a, b)) return *q;
  return DimAlgebra::Call("ceildiv", a, b);
}

Dim Mod(const Dim& a, const Dim& b) {
  if (b.Is(1)) return Dim(0);
  if (a.symbolic() && !b.unknown() && DimAlgebra::DivideExactly(a, b)) return Dim(0);
  return DimAlgebra::Call("mod", a, b);
}

Dim Max(const Dim& a, const Dim& b) {
  if (a == b || (a - b).NonNegative()) return a;
  return (b - a).NonNegative() ? b : DimAlgebra::Call("max", a, b);
}

Dim Min(const Dim& a, const Dim& b) {
  if (a == b || (a - b).NonNegative()) return b;
  return (b - a).NonNegative() ? a : DimAlgebra::Call("min", a, b);
}

}  // namespace tern
