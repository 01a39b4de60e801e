// einsum: sums of products by the names of axes. Operands are contracted from left to right, two at a time,
// as products of matrices.
#include <algorithm>
#include <map>
#include <set>

#include "np/rep.h"

namespace tern::v1::np {
namespace {

// An operand and the names of its axes. The axes of an ellipsis have the names '0', '1', ...
struct Term {
  Array array;
  std::string axes;
};

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
  bool explicit_output = false;
};

Equation Parse(const std::string& subscripts) {
  Equation e;
  std::string text;
  for (const char c : subscripts)
    if (c != ' ') text.push_back(c);
  const size_t arrow = text.find("->");
  e.explicit_output = arrow != std::string::npos;
  if (e.explicit_output) e.output = text.substr(arrow + 2);
  std::string inputs = text.substr(0, arrow);
  for (size_t at = 0; at <= inputs.size();) {
    const size_t comma = std::min(inputs.find(',', at), inputs.size());
    e.inputs.push_back(inputs.substr(at, comma - at));
    at = comma + 1;
  }
  return e;
}

// Replaces "..." by `count` names. The longest ellipsis has `most` axes; the names are those of its last
// axes.
std::string Expanded(const std::string& axes, int64_t count, int64_t most) {
  const size_t dots = axes.find("...");
  std::string names;
  for (int64_t i = most - count; i < most; ++i) names.push_back(static_cast<char>('0' + i));
  std::string out = dots == std::string::npos ? axes : axes.substr(0, dots) + names + axes.substr(dots + 3);
  for (const char c : out)
    if (!std::isalnum(static_cast<unsigned char>(c))) Fail("einsum: '", axes, "' is not a list of axes");
  return out;
}

int64_t Dots(const std::string& axes, int64_t rank) {
  if (axes.find("...") == std::string::npos) return 0;
  const int64_t count = rank - static_cast<int64_t>(axes.size()) + 3;
  if (count < 0 || count > 10) Fail("einsum: '", axes, "' for an array with ", rank, " axes");
  return count;
}

// Takes the diagonal of axes with the same name.
Term WithoutRepeats(Term t) {
  for (size_t i = 0; i < t.axes.size(); ++i)
    for (size_t j = i + 1; j < t.axes.size();) {
      if (t.axes[i] != t.axes[j]) {
        ++j;
        continue;
      }
      const int64_t n = t.array.shape()[i];
      if (t.array.shape()[j] != n)
        Fail("einsum: axis '", t.axes[i], "' has ", n, " and ", t.array.shape()[j], " elements");
      Array moved = moveaxis(moveaxis(t.array, static_cast<int64_t>(j), 0), static_cast<int64_t>(i) + 1, 0);
      Shape rest(moved.shape().begin() + 2, moved.shape().end());
      Shape flat = rest;
      flat.insert(flat.begin(), n * n);
      std::vector<int64_t> positions;
      for (int64_t d = 0; d < n; ++d) positions.push_back(d * (n + 1));
      t.array = moveaxis(take(moved.reshape(flat), array(positions), 0), 0, static_cast<int64_t>(i));
      In(t.array);
      t.axes.erase(j, 1);
    }
  return t;
}

// Sums over the axes that are not in `kept`.
Term SumOthers(Term t, const std::set<char>& kept) {
  Axis axis;
  std::string left;
  for (size_t i = 0; i < t.axes.size(); ++i) {
    if (kept.count(t.axes[i]))
      left.push_back(t.axes[i]);
    else
      axis.list.push_back(static_cast<int64_t>(i));
  }
  if (axis.list.empty()) return t;
  const DType type = t.array.dtype();
  return {sum(t.array, axis).astype(type), left};
}

// Returns the array with its axes in the order of `axes`. Axes that it does not have get the length 1.
Array Ordered(const Term& t, const std::string& axes) {
  Shape order;
  std::string present;
  for (const char c : axes)
    if (const size_t at = t.axes.find(c); at != std::string::npos) {
      order.push_back(static_cast<int64_t>(at));
      present.push_back(c);
    }
  const Array moved = order.empty() ? t.array : transpose(t.array, order);
  Shape shape;
  for (const char c : axes) {
    const size_t at = present.find(c);
    shape.push_back(at == std::string::npos ? 1 : moved.shape()[at]);
  }
  return moved.reshape(shape);
}

// Multiplies two operands and sums over the axes that they share, except those in `later`. `later` has the
// axes of later operands and of the output.
Term Contract(const Term& a, const Term& b, const std::set<char>& later) {
  std::string batch, left, right, inner;
  for (const char c : a.axes) {
    const bool both = b.axes.find(c) != std::string::npos;
    (both ? (later.count(c) ? batch : inner) : left).push_back(c);
  }
  for (const char c : b.axes)
    if (a.axes.find(c) == std::string::npos) right.push_back(c);
  const Array x = Ordered(a, batch + left + inner), y = Ordered(b, batch + inner + right);
  In(x);
  In(y);
  const auto size = [](const Array& v, size_t begin, size_t count) {
    int64_t n = 1;
    for (size_t i = begin; i < begin + count; ++i) n *= v.shape()[i];
    return n;
  };
  const size_t nb = batch.size(), nl = left.size(), ni = inner.size(), nr = right.size();
  // Axes of length 1 broadcast, as in numpy.
  Shape dims = BroadcastOf({x.shape().begin(), x.shape().begin() + static_cast<int64_t>(nb)},
                           {y.shape().begin(), y.shape().begin() + static_cast<int64_t>(nb)});
  Shape xs(x.shape().begin(), x.shape().begin() + static_cast<int64_t>(nb)),
      ys(y.shape().begin(), y.shape().begin() + static_cast<int64_t>(nb));
  xs.insert(xs.end(), {size(x, nb, nl), size(x, nb + nl, ni)});
  ys.insert(ys.end(), {size(y, nb, ni), size(y, nb + ni, nr)});
  dims.insert(dims.end(), x.shape().begin() + static_cast<int64_t>(nb),
              x.shape().begin() + static_cast<int64_t>(nb + nl));
  dims.insert(dims.end(), y.shape().begin() + static_cast<int64_t>(nb + ni), y.shape().end());
  return {matmul(x.reshape(xs), y.reshape(ys)).reshape(dims), batch + left + right};
}

// The output that numpy assumes: the ellipsis, then the names that occur once, in alphabetical order.
std::string Implied(const std::vector<std::string>& inputs) {
  std::map<char, int> times;
  for (const std::string& axes : inputs)
    for (const char c : axes) times[c] += std::isdigit(static_cast<unsigned char>(c)) ? -1 : 1;
  std::string out;
  for (const auto& [c, n] : times)
    if (n == 1 || n < 0) out.push_back(c);
  return out;
}

void CheckLengths(const std::vector<Term>& terms) {
  std::map<char, int64_t> lengths;
  for (const Term& t : terms)
    for (size_t i = 0; i < t.axes.size(); ++i) {
      const int64_t n = t.array.shape()[i];
      const auto [it, added] = lengths.emplace(t.axes[i], n);
      if (!added && it->second == 1) it->second = n;
      if (n != it->second && n != 1)
        Fail("einsum: axis '", t.axes[i], "' has ", it->second, " and ", n, " elements");
    }
}

// Drops axes of length 1 that another operand has with another length.
Term WithoutOnes(Term t, const std::vector<Term>& all) {
  for (size_t i = t.axes.size(); i-- > 0;) {
    bool longer = false;
    for (const Term& o : all)
      if (const size_t at = o.axes.find(t.axes[i]); at != std::string::npos)
        longer |= o.array.shape()[at] != 1;
    if (t.array.shape()[i] != 1 || !longer) continue;
    t.array = squeeze(t.array, static_cast<int64_t>(i));
    t.axes.erase(i, 1);
  }
  return t;
}

Store Evaluate(const std::string& subscripts, const std::vector<Array>& operands) {
  Equation e = Parse(subscripts);
  if (e.inputs.size() != operands.size()) Fail("einsum: '", subscripts, "' for ", operands.size(), " arrays");
  int64_t most = 0;
  for (size_t i = 0; i < operands.size(); ++i)
    most = std::max(most, Dots(e.inputs[i], In(operands[i]).rank()));
  std::vector<Term> terms;
  const DType type = result_type(operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    e.inputs[i] = Expanded(e.inputs[i], Dots(e.inputs[i], operands[i].ndim()), most);
    if (static_cast<int64_t>(e.inputs[i].size()) != operands[i].ndim())
      Fail("einsum: '", e.inputs[i], "' for ", In(operands[i]).Describe());
    terms.push_back(WithoutRepeats({operands[i].astype(type), e.inputs[i]}));
  }
  CheckLengths(terms);
  const std::vector<Term> given = terms;
  for (Term& t : terms) t = WithoutOnes(t, given);
  const std::string output = e.explicit_output ? Expanded(e.output, most, most) : Implied(e.inputs);
  std::set<char> unique(output.begin(), output.end());
  if (unique.size() != output.size()) Fail("einsum: the output '", output, "' names an axis twice");
  Term result = terms[0];
  for (size_t i = 0; i < terms.size(); ++i) {
    std::set<char> later(output.begin(), output.end());
    for (size_t j = i + 1; j < terms.size(); ++j) later.insert(terms[j].axes.begin(), terms[j].axes.end());
    if (i == 0) {
      result = SumOthers(terms[0], later);
      continue;
    }
    std::set<char> wanted = later;
    wanted.insert(result.axes.begin(), result.axes.end());
    result = SumOthers(Contract(result, SumOthers(terms[i], wanted), later), later);
    In(result.array);
  }
  for (const char c : output)
    if (result.axes.find(c) == std::string::npos)
      Fail("einsum: no array has the axis '", c, "' of the output");
  return In(Ordered(result, output));
}

}  // namespace

Array einsum(const std::string& subscripts, const std::vector<Array>& operands) {
  return Make([&] { return Evaluate(subscripts, operands); });
}

}  // namespace tern::v1::np
