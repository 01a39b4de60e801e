// Einsum: sums of products over axes that an equation names, as in numpy.einsum.
#include <algorithm>
#include <map>

#include "ir/eval_context.h"
#include "ir/graph.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/matmul/einsum_equation.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct Einsum {
  std::string equation;
  template <class V> void Visit(V& v) {
    v("equation", equation, "letters name axes: \"bij,bjk->bik\"; \"...\" means broadcast axes");
  }
};

using Labels = std::vector<int>;

Result<Shape> OutputShape(const EinsumLabels& labels, const std::vector<Shape>& shapes) {
  std::map<int, Dim> sizes;
  for (size_t i = 0; i < shapes.size(); ++i)
    for (size_t k = 0; k < labels.inputs[i].size(); ++k) {
      const int label = labels.inputs[i][k];
      const Dim d = shapes[i].dims[k];
      auto [it, is_new] = sizes.emplace(label, d);
      if (is_new || d.Is(1)) continue;
      if (it->second.Is(1))
        it->second = d;
      else if (Differ(it->second, d))
        return InvalidModel("einsum axis '",
                            label > 0 ? std::string(1, static_cast<char>(label)) : std::string("..."),
                            "' has sizes ", it->second.value(), " and ", d.value());
      else
        it->second = MoreSpecific(it->second, d);
    }
  std::vector<Dim> out;
  for (int label : labels.output) out.push_back(sizes[label]);
  return Shape(std::move(out));
}

Status Infer(const Einsum& op, InferContext& c) {
  TERN_ASSIGN(EinsumEquation equation, ParseEinsum(op.equation));
  std::vector<Shape> shapes;
  std::vector<int> ranks;
  DType type = DType::kInvalid;
  bool ranked = true;
  for (int i = 0; i < c.InputCount(); ++i) {
    const DType t = c.In(i).dtype;
    if (type != DType::kInvalid && t != DType::kInvalid && t != type)
      return InvalidModel("inputs differ in type: ", DTypeName(type), " and ", DTypeName(t));
    if (t != DType::kInvalid) type = t;
    shapes.push_back(c.In(i).shape);
    ranks.push_back(shapes.back().rank());
    ranked = ranked && shapes.back().ranked;
  }
  if (!ranked) {
    c.Out("y", type,
          equation.output.find('*') == std::string::npos ? Shape(std::vector<Dim>(equation.output.size()))
                                                         : Shape());
    return {};
  }
  TERN_ASSIGN(EinsumLabels labels, LabelAxes(equation, ranks));
  TERN_ASSIGN(Shape y, OutputShape(labels, shapes));
  c.Out("y", type, std::move(y));
  return {};
}

// An operand or an intermediate product, with a label per axis.
template <class T> struct Term {
  Labels labels;
  Dims dims;
  std::vector<T> values;
};

using Sizes = std::map<int, int64_t>;

template <class T> void Measure(const Term<T>& t, Sizes& sizes) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    int64_t& size = sizes.emplace(t.labels[i], 1).first->second;
    if (t.dims[i] != 1) size = t.dims[i];
  }
}

// Returns the term's stride along each label of `loop`. If the term repeats a label, as in "ii", the strides
// of its axes are added, so that the loop reads the diagonal. Axes of size 1 have stride 0.
template <class T> Dims StepsOf(const Term<T>& t, const Labels& loop) {
  const Dims strides = ContiguousStrides(t.dims);
  Dims label_strides(loop.size(), 0);
  for (size_t l = 0; l < loop.size(); ++l)
    for (size_t i = 0; i < t.labels.size(); ++i)
      if (t.labels[i] == loop[l] && t.dims[i] != 1) label_strides[l] += strides[i];
  return label_strides;
}

// Multiplies a and b and sums over every label that is not in `keep`. The loops over summed labels are
// innermost.
template <class T> Term<T> Contract(const Term<T>& a, const Term<T>& b, const Labels& keep) {
  Sizes sizes;
  Measure(a, sizes);
  Measure(b, sizes);
  Term<T> out;
  Labels loop;
  Dims extents;
  for (int label : keep)
    if (sizes.count(label)) out.labels.push_back(label), out.dims.push_back(sizes[label]);
  loop = out.labels, extents = out.dims;
  for (const auto& [label, size] : sizes)
    if (std::find(loop.begin(), loop.end(), label) == loop.end())
      loop.push_back(label), extents.push_back(size);
  out.values.assign(static_cast<size_t>(CountOf(out.dims)), T{0});
  if (CountOf(extents) == 0) return out;
  const Dims sa = StepsOf(a, loop), sb = StepsOf(b, loop), so = StepsOf(out, loop);
  Dims index(loop.size(), 0);
  size_t ia = 0, ib = 0, io = 0;
  for (bool has_next = true; has_next;) {
    out.values[io] += a.values[ia] * b.values[ib];
    has_next = false;
    for (size_t l = loop.size(); l-- > 0 && !has_next;) {
      const int64_t step_count = ++index[l] < extents[l] ? 1 : 1 - extents[l];
      ia = static_cast<size_t>(static_cast<int64_t>(ia) + step_count * sa[l]);
      ib = static_cast<size_t>(static_cast<int64_t>(ib) + step_count * sb[l]);
      io = static_cast<size_t>(static_cast<int64_t>(io) + step_count * so[l]);
      if (step_count == 1)
        has_next = true;
      else
        index[l] = 0;
    }
  }
  return out;
}

// Returns the labels that are needed after operand `done`: the output's labels in order, then the labels of
// later operands.
Labels Needed(const EinsumLabels& labels, size_t done) {
  Labels keep = labels.output;
  for (size_t i = done + 1; i < labels.inputs.size(); ++i)
    for (int label : labels.inputs[i])
      if (std::find(keep.begin(), keep.end(), label) == keep.end()) keep.push_back(label);
  return keep;
}

template <class T> std::vector<T> LoadTerm(const Tensor& t) {
  if constexpr (std::is_same_v<T, double>) return ToDoubles(t);
  const auto longs = ToLongs(t);
  return {longs.begin(), longs.end()};
}

template <class T> std::vector<T> Compute(EvalContext& c, const EinsumLabels& labels, const Dims& dims) {
  Term<T> total{{}, {}, {T{1}}};
  for (size_t i = 0; i < labels.inputs.size(); ++i) {
    const Tensor& t = c.In(static_cast<int>(i));
    total = Contract(total, Term<T>{labels.inputs[i], t.dims(), LoadTerm<T>(t)}, Needed(labels, i));
  }
  return BroadcastTo(total.values, total.dims, dims);
}

Status Reference(const Einsum& op, EvalContext& c) {
  TERN_ASSIGN(EinsumEquation equation, ParseEinsum(op.equation));
  std::vector<int> ranks;
  std::vector<Shape> shapes;
  for (int i = 0; i < c.InputCount(); ++i) {
    ranks.push_back(c.In(i).rank());
    shapes.push_back(Shape::Of(c.In(i).dims()));
  }
  TERN_ASSIGN(EinsumLabels labels, LabelAxes(equation, ranks));
  TERN_ASSIGN(Shape shape, OutputShape(labels, shapes));
  const Dims dims = shape.Concrete();
  if (IsFloat(c.OutType("y"))) {
    c.Out("y", dims, Compute<double>(c, labels, dims));
  } else {
    const auto y = Compute<uint64_t>(c, labels, dims);
    c.OutLongs("y", dims, {y.begin(), y.end()});
  }
  return {};
}

// The result is (number of operands - 1) times the product of the sizes of all labels.
std::optional<double> Macs(const Node& n) {
  const std::string& equation = n.attrs.As<Einsum>().equation;
  std::map<char, double> sizes;
  int operand = 0, axis = 0;
  for (size_t i = 0; i < equation.size() && equation[i] != '-'; ++i) {
    const char c = equation[i];
    if (c == ',') {
      ++operand;
      axis = 0;
    } else if (c == '.') {
      return std::nullopt;  // equations with an ellipsis are not counted
    } else if (c != ' ') {
      const auto d = DimOf(n.input(operand), axis++);
      if (!d) return std::nullopt;
      sizes[c] = *d;
    }
  }
  double product = operand;
  for (const auto& [label, size] : sizes) product *= size;
  return product;
}

}  // namespace

TERN_OP(Einsum) {
  return OpDef::Of<Einsum>("sums of products over axes that an equation names, as in numpy.einsum")
      .VarIn("inputs", kNumbers)
      .Out("y", kNumbers)
      .Macs(Macs)
      .Batch(No{"the equation may sum over the outermost axis"})
      .Axes(No{"the equation names the axes in their order"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
