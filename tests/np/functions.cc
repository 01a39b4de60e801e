#include "functions.h"

#include <cmath>
#include <functional>
#include <map>
#include <sstream>

namespace np = tern::np;
using np::Array;
using Arrays = std::vector<Array>;
using Arguments = std::vector<Argument>;
using Function = std::function<Arrays(const Arguments&)>;

tern::Shape Argument::List() const {
  tern::Shape out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    out.push_back(part == "none" ? np::none : std::stoll(part));
  return out;
}

np::Axis Argument::Axes() const {
  np::Axis axis;
  if (text != "none") axis.list = List();
  return axis;
}

namespace {

Array ArrayOf(const Arguments& a, size_t i) { return a.at(i).array; }
Arrays From(const Arguments& a, size_t first) {
  Arrays out;
  for (size_t i = first; i < a.size(); ++i) out.push_back(a[i].array);
  return out;
}

// Parts of an index: "3", "1:none:-1", "new", "dots".
std::vector<np::Index> IndexOf(const Arguments& a) {
  std::vector<np::Index> out;
  for (size_t i = 1; i < a.size(); ++i) {
    const std::string& text = a[i].text;
    if (text == "new") {
      out.emplace_back(np::newaxis);
    } else if (text == "dots") {
      out.emplace_back(np::ellipsis);
    } else if (text.find(':') == std::string::npos) {
      out.emplace_back(a[i].Int());
    } else {
      std::string list = text;
      for (char& c : list) c = c == ':' ? ',' : c;
      const tern::Shape s = Argument{{}, list}.List();
      out.emplace_back(np::slice(s[0], s[1], s[2]));
    }
  }
  return out;
}

using Table = std::map<std::string, Function>;
using Axis = np::Axis;

#define TERN_UNARY(name) t[#name] = [](const Arguments& a) { return Arrays{np::name(ArrayOf(a, 0))}; };
#define TERN_BINARY(name) \
  t[#name] = [](const Arguments& a) { return Arrays{np::name(ArrayOf(a, 0), ArrayOf(a, 1))}; };
#define TERN_REDUCE(name)                                                       \
  t[#name] = [](const Arguments& a) {                                           \
    return Arrays{np::name(ArrayOf(a, 0), a.at(1).Axes(), a.at(2).Int() != 0)}; \
  };
#define TERN_ONE_AXIS(name) \
  t[#name] = [](const Arguments& a) { return Arrays{np::name(ArrayOf(a, 0), a.at(1).Int())}; };

// clang-format off
void AddElementwise(Table& t) {
  TERN_UNARY(negative) TERN_UNARY(abs) TERN_UNARY(sign) TERN_UNARY(square) TERN_UNARY(sqrt) TERN_UNARY(cbrt)
  TERN_UNARY(reciprocal) TERN_UNARY(exp) TERN_UNARY(exp2) TERN_UNARY(expm1) TERN_UNARY(log) TERN_UNARY(log2)
  TERN_UNARY(log10) TERN_UNARY(log1p) TERN_UNARY(sin) TERN_UNARY(cos) TERN_UNARY(tan) TERN_UNARY(arcsin)
  TERN_UNARY(arccos) TERN_UNARY(arctan) TERN_UNARY(sinh) TERN_UNARY(cosh) TERN_UNARY(tanh) TERN_UNARY(arcsinh)
  TERN_UNARY(arccosh) TERN_UNARY(arctanh) TERN_UNARY(floor) TERN_UNARY(ceil) TERN_UNARY(trunc) TERN_UNARY(rint)
  TERN_UNARY(isnan) TERN_UNARY(isinf) TERN_UNARY(isfinite) TERN_UNARY(logical_not) TERN_UNARY(bitwise_not)
  TERN_UNARY(zeros_like) TERN_UNARY(ones_like) TERN_UNARY(ravel) TERN_UNARY(flatnonzero) TERN_UNARY(argwhere)
  TERN_UNARY(unique) TERN_UNARY(trace)
  TERN_BINARY(add) TERN_BINARY(subtract) TERN_BINARY(multiply) TERN_BINARY(divide) TERN_BINARY(floor_divide)
  TERN_BINARY(mod) TERN_BINARY(fmod) TERN_BINARY(power) TERN_BINARY(maximum) TERN_BINARY(minimum)
  TERN_BINARY(arctan2) TERN_BINARY(hypot) TERN_BINARY(equal) TERN_BINARY(not_equal) TERN_BINARY(less)
  TERN_BINARY(less_equal) TERN_BINARY(greater) TERN_BINARY(greater_equal) TERN_BINARY(logical_and)
  TERN_BINARY(logical_or) TERN_BINARY(logical_xor) TERN_BINARY(bitwise_and) TERN_BINARY(bitwise_or)
  TERN_BINARY(bitwise_xor) TERN_BINARY(left_shift) TERN_BINARY(right_shift) TERN_BINARY(matmul) TERN_BINARY(dot)
  TERN_BINARY(outer) TERN_BINARY(full_like) TERN_BINARY(isclose)
}

void AddSimpleReductions(Table& t) {
  TERN_REDUCE(sum) TERN_REDUCE(prod) TERN_REDUCE(mean) TERN_REDUCE(min) TERN_REDUCE(max) TERN_REDUCE(any)
  TERN_REDUCE(all) TERN_REDUCE(count_nonzero)
  TERN_ONE_AXIS(cumsum) TERN_ONE_AXIS(cumprod) TERN_ONE_AXIS(sort) TERN_ONE_AXIS(argsort)
}
// clang-format on

void AddThree(Table& t) {
  t["round"] = [](const Arguments& a) {
    return Arrays{np::round(ArrayOf(a, 0), static_cast<int>(a.at(1).Int()))};
  };
  t["clip"] = [](const Arguments& a) {
    return Arrays{np::clip(ArrayOf(a, 0), ArrayOf(a, 1), ArrayOf(a, 2))};
  };
  t["where"] = [](const Arguments& a) {
    return Arrays{np::where(ArrayOf(a, 0), ArrayOf(a, 1), ArrayOf(a, 2))};
  };
}

void AddReductions(Table& t) {
  const auto flag = [](const Arguments& a) { return a.at(2).Int() != 0; };
  t["var"] = [=](const Arguments& a) {
    return Arrays{np::var(ArrayOf(a, 0), a.at(1).Axes(), flag(a), a.at(3).Int())};
  };
  t["std"] = [=](const Arguments& a) {
    return Arrays{np::std(ArrayOf(a, 0), a.at(1).Axes(), flag(a), a.at(3).Int())};
  };
  t["argmin"] = [=](const Arguments& a) { return Arrays{np::argmin(ArrayOf(a, 0), a.at(1).Int(), flag(a))}; };
  t["argmax"] = [=](const Arguments& a) { return Arrays{np::argmax(ArrayOf(a, 0), a.at(1).Int(), flag(a))}; };
  t["median"] = [=](const Arguments& a) { return Arrays{np::median(ArrayOf(a, 0), a.at(1).Int(), flag(a))}; };
  t["diff"] = [](const Arguments& a) {
    return Arrays{np::diff(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int())};
  };
  t["norm"] = [](const Arguments& a) {
    return Arrays{np::linalg::norm(ArrayOf(a, 0), a.at(1).Number(), a.at(2).Axes(), a.at(3).Int() != 0)};
  };
}

void AddShapes(Table& t) {
  t["reshape"] = [](const Arguments& a) { return Arrays{np::reshape(ArrayOf(a, 0), a.at(1).List())}; };
  t["transpose"] = [](const Arguments& a) { return Arrays{np::transpose(ArrayOf(a, 0), a.at(1).List())}; };
  t["swapaxes"] = [](const Arguments& a) {
    return Arrays{np::swapaxes(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int())};
  };
  t["moveaxis"] = [](const Arguments& a) {
    return Arrays{np::moveaxis(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int())};
  };
  t["expand_dims"] = [](const Arguments& a) {
    return Arrays{np::expand_dims(ArrayOf(a, 0), a.at(1).Axes())};
  };
  t["squeeze"] = [](const Arguments& a) { return Arrays{np::squeeze(ArrayOf(a, 0), a.at(1).Axes())}; };
  t["broadcast_to"] = [](const Arguments& a) {
    return Arrays{np::broadcast_to(ArrayOf(a, 0), a.at(1).List())};
  };
  t["concatenate"] = [](const Arguments& a) { return Arrays{np::concatenate(From(a, 1), a.at(0).Int())}; };
  t["stack"] = [](const Arguments& a) { return Arrays{np::stack(From(a, 1), a.at(0).Int())}; };
  t["vstack"] = [](const Arguments& a) { return Arrays{np::vstack(From(a, 0))}; };
  t["hstack"] = [](const Arguments& a) { return Arrays{np::hstack(From(a, 0))}; };
  t["split"] = [](const Arguments& a) { return np::split(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int()); };
  t["split_at"] = [](const Arguments& a) { return np::split(ArrayOf(a, 0), a.at(1).List(), a.at(2).Int()); };
  t["flip"] = [](const Arguments& a) { return Arrays{np::flip(ArrayOf(a, 0), a.at(1).Axes())}; };
  t["roll"] = [](const Arguments& a) {
    return Arrays{np::roll(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int())};
  };
  t["tile"] = [](const Arguments& a) { return Arrays{np::tile(ArrayOf(a, 0), a.at(1).List())}; };
  t["repeat"] = [](const Arguments& a) {
    return Arrays{np::repeat(ArrayOf(a, 0), a.at(1).Int(), a.at(2).Int())};
  };
  t["pad"] = [](const Arguments& a) {
    const tern::Shape flat = a.at(1).List();
    std::vector<std::pair<int64_t, int64_t>> widths;
    for (size_t i = 0; i + 1 < flat.size(); i += 2) widths.emplace_back(flat[i], flat[i + 1]);
    return Arrays{np::pad(ArrayOf(a, 0), widths, a.at(2).text, ArrayOf(a, 3))};
  };
  t["astype"] = [](const Arguments& a) {
    return Arrays{ArrayOf(a, 0).astype(static_cast<tern::DType>(a.at(1).Int()))};
  };
}

void AddIndexing(Table& t) {
  t["get"] = [](const Arguments& a) { return Arrays{ArrayOf(a, 0).Get(IndexOf(a))}; };
  t["index"] = [](const Arguments& a) { return Arrays{ArrayOf(a, 0)[ArrayOf(a, 1)]}; };
  t["take"] = [](const Arguments& a) {
    return Arrays{np::take(ArrayOf(a, 0), ArrayOf(a, 1), a.at(2).Int())};
  };
  t["take_along_axis"] = [](const Arguments& a) {
    return Arrays{np::take_along_axis(ArrayOf(a, 0), ArrayOf(a, 1), a.at(2).Int())};
  };
  t["nonzero"] = [](const Arguments& a) { return np::nonzero(ArrayOf(a, 0)); };
  t["unique_all"] = [](const Arguments& a) {
    const np::Unique u = np::unique_all(ArrayOf(a, 0));
    return Arrays{u.values, u.index, u.inverse, u.counts};
  };
  t["searchsorted"] = [](const Arguments& a) {
    return Arrays{np::searchsorted(ArrayOf(a, 0), ArrayOf(a, 1), a.at(2).Int() != 0)};
  };
  t["bincount"] = [](const Arguments& a) { return Arrays{np::bincount(ArrayOf(a, 0), a.at(1).Int())}; };
  t["diag"] = [](const Arguments& a) { return Arrays{np::diag(ArrayOf(a, 0), a.at(1).Int())}; };
  t["tril"] = [](const Arguments& a) { return Arrays{np::tril(ArrayOf(a, 0), a.at(1).Int())}; };
  t["triu"] = [](const Arguments& a) { return Arrays{np::triu(ArrayOf(a, 0), a.at(1).Int())}; };
  t["meshgrid"] = [](const Arguments& a) { return np::meshgrid(From(a, 0)); };
}

void AddCreation(Table& t) {
  t["zeros"] = [](const Arguments& a) { return Arrays{np::zeros(a.at(0).List())}; };
  t["ones"] = [](const Arguments& a) { return Arrays{np::ones(a.at(0).List())}; };
  t["full"] = [](const Arguments& a) { return Arrays{np::full(a.at(0).List(), ArrayOf(a, 1))}; };
  t["arange"] = [](const Arguments& a) {
    return Arrays{np::arange(a.at(0).Int(), a.at(1).Int(), a.at(2).Int())};
  };
  t["arange_float"] = [](const Arguments& a) {
    return Arrays{np::arange(a.at(0).Number(), a.at(1).Number(), a.at(2).Number())};
  };
  t["linspace"] = [](const Arguments& a) {
    return Arrays{np::linspace(a.at(0).Number(), a.at(1).Number(), a.at(2).Int(), a.at(3).Int() != 0)};
  };
  t["eye"] = [](const Arguments& a) { return Arrays{np::eye(a.at(0).Int(), a.at(1).Int(), a.at(2).Int())}; };
  t["random"] = [](const Arguments& a) {
    np::Random random(static_cast<uint64_t>(a.at(0).Int()));
    return Arrays{random.uniform({1000}), random.normal({1001}), random.integers({1000}, -3, 4),
                  random.permutation(100)};
  };
}

void AddProducts(Table& t) {
  t["tensordot"] = [](const Arguments& a) {
    return Arrays{np::tensordot(ArrayOf(a, 0), ArrayOf(a, 1), a.at(2).Int())};
  };
  t["einsum"] = [](const Arguments& a) { return Arrays{np::einsum(a.at(0).text, From(a, 1))}; };
  t["solve"] = [](const Arguments& a) { return Arrays{np::linalg::solve(ArrayOf(a, 0), ArrayOf(a, 1))}; };
  t["inv"] = [](const Arguments& a) { return Arrays{np::linalg::inv(ArrayOf(a, 0))}; };
  t["det"] = [](const Arguments& a) { return Arrays{np::linalg::det(ArrayOf(a, 0))}; };
  t["cholesky"] = [](const Arguments& a) { return Arrays{np::linalg::cholesky(ArrayOf(a, 0))}; };
  t["qr"] = [](const Arguments& a) {
    const np::linalg::Qr x = np::linalg::qr(ArrayOf(a, 0));
    return Arrays{x.q, x.r};
  };
  t["eigh"] = [](const Arguments& a) {
    const np::linalg::Eigh x = np::linalg::eigh(ArrayOf(a, 0));
    return Arrays{x.eigenvalues, x.eigenvectors};
  };
  t["svd"] = [](const Arguments& a) {
    const np::linalg::Svd x = np::linalg::svd(ArrayOf(a, 0));
    return Arrays{x.u, x.s, x.vh};
  };
}

Table MakeTable() {
  Table t;
  AddElementwise(t);
  AddSimpleReductions(t);
  AddThree(t);
  AddReductions(t);
  AddShapes(t);
  AddIndexing(t);
  AddCreation(t);
  AddProducts(t);
  return t;
}

}  // namespace

std::vector<Array> Call(const std::string& name, const std::vector<Argument>& args) {
  static const Table table = MakeTable();
  return table.at(name)(args);
}
