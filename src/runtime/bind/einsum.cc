// Binds Einsum to matrix products and copies.
#include <algorithm>
#include <map>

#include "kernels/cpu/gemm/contract.h"
#include "kernels/cpu/support/width.h"
#include "ops/matmul/einsum_equation.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

using Labels = std::vector<int>;

bool Contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

bool HasDuplicates(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

Result<EinsumLabels> LabelsOf(const KernelQuery& q) {
  TERN_ASSIGN(const EinsumEquation equation, ParseEinsum(q.attrs().Text("equation")));
  std::vector<int> ranks;
  for (int i = 0; i < q.InputCount(); ++i) ranks.push_back(q.InRank(i));
  return LabelAxes(equation, ranks);
}

// An operand whose axes are identified by labels.
struct EinsumOperand {
  const Labels& labels;
  const Dims& dims;
  Dims strides = ContiguousStrides(dims);
  // Returns the stride of the axis with this label, or 0 if the operand is broadcast along it.
  int64_t StrideOf(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    if (at == labels.end()) return 0;
    const auto i = static_cast<size_t>(at - labels.begin());
    return dims[i] == 1 ? 0 : strides[i];
  }
};

class Einsum : public KernelOf<Einsum> {
 public:
  static bool Legal(const KernelQuery& q) {
    if (q.InputCount() < 1 || q.InputCount() > 2 || cpu::WidthOf(q.OutType(0)) == 0) return false;
    const auto labels = LabelsOf(q);
    if (!labels.ok() || labels->output.size() + labels->inputs[0].size() > static_cast<size_t>(cpu::kMaxRank))
      return false;
    for (const Labels& list : labels->inputs)
      if (HasDuplicates(list) || list.size() > static_cast<size_t>(cpu::kMaxRank)) return false;
    if (q.InputCount() == 1) return labels->inputs[0].size() == labels->output.size();
    return cpu::GemmTypes(q.InType(0), q.InType(1), q.OutType(0));
  }

  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(const EinsumLabels labels, LabelsOf(c.query()));
    std::map<int, int64_t> sizes;
    for (size_t i = 0; i < labels.inputs.size(); ++i)
      for (size_t k = 0; k < labels.inputs[i].size(); ++k) {
        int64_t& size = sizes.emplace(labels.inputs[i][k], 1).first->second;
        if (c->inputs[i].dims[k] != 1) size = c->inputs[i].dims[k];
      }
    const EinsumOperand a{labels.inputs[0], c->InDims(0)};
    moves_only_ = labels.inputs.size() == 1;
    if (moves_only_) {
      const Dims to = ContiguousStrides(c->OutDims(0));
      move_ = {};
      for (size_t i = 0; i < labels.output.size(); ++i)
        move_.Add({sizes[labels.output[i]], a.StrideOf(labels.output[i]), to[i]});
      return {};
    }
    const EinsumOperand b{labels.inputs[1], c->InDims(1)};
    Plan(labels, sizes, a, b, c->OutDims(0));
    plan_.type = c->OutType(0);
    c.SetScratch(cpu::ContractionScratch(plan_, c.threads()));
    return {};
  }

  Status Run(RunContext& c) override {
    if (moves_only_)
      cpu::Copy(move_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    else
      cpu::Contract(plan_, c.In(0).raw(), c.In(1).raw(), c.Out(0).raw(), c.scratch<void>(), c.workers());
    return {};
  }

 private:
  static int64_t SizeOf(const Labels& labels, const std::map<int, int64_t>& sizes) {
    int64_t n = 1;
    for (int l : labels) n *= sizes.at(l);
    return n;
  }
  // Plans a copy between `side` and a contiguous tensor whose axes have the labels of `groups`, in this
  // order. If `pack` is true, the copy writes the contiguous tensor. Otherwise it reads the contiguous
  // tensor.
  static cpu::StridedCopy Packing(const std::vector<const Labels*>& groups,
                                  const std::map<int, int64_t>& sizes, const EinsumOperand& side, bool pack) {
    Labels order;
    Dims dims;
    for (const Labels* group : groups) order.insert(order.end(), group->begin(), group->end());
    for (int l : order) dims.push_back(sizes.at(l));
    const Dims packed = ContiguousStrides(dims);
    cpu::StridedCopy plan;
    if (pack) {
      for (size_t i = 0; i < order.size(); ++i) plan.Add({dims[i], side.StrideOf(order[i]), packed[i]});
    } else {  // axes in the order of y, so that writes are sequential
      for (size_t i = 0; i < side.labels.size(); ++i) {
        const auto at =
            static_cast<size_t>(std::find(order.begin(), order.end(), side.labels[i]) - order.begin());
        plan.Add({dims[at], packed[at], side.strides[i]});
      }
    }
    return plan;
  }

  void Plan(const EinsumLabels& labels, const std::map<int, int64_t>& sizes, const EinsumOperand& a,
            const EinsumOperand& b, const Dims& out) {
    Labels batch, m, n, k;
    for (int l : labels.output)
      (Contains(a.labels, l) && Contains(b.labels, l) ? batch : Contains(a.labels, l) ? m : n).push_back(l);
    for (const auto& [l, size] : sizes)
      if (!Contains(labels.output, l)) k.push_back(l);
    const EinsumOperand y{labels.output, out};
    plan_.batch = SizeOf(batch, sizes), plan_.m = SizeOf(m, sizes), plan_.n = SizeOf(n, sizes),
    plan_.k = SizeOf(k, sizes);
    plan_.a = Packing({&batch, &m, &k}, sizes, a, true);
    plan_.b = Packing({&batch, &k, &n}, sizes, b, true);
    plan_.y = Packing({&batch, &m, &n}, sizes, y, false);
    plan_.a_at.clear(), plan_.b_at.clear(), plan_.y_at.clear();
    for (int64_t i = 0; i < plan_.batch; ++i) {
      plan_.a_at.push_back(i * plan_.m * plan_.k);
      plan_.b_at.push_back(i * plan_.k * plan_.n);
      plan_.y_at.push_back(i * plan_.m * plan_.n);
    }
  }

  bool moves_only_ = false;
  cpu::StridedCopy move_;
  cpu::Contraction plan_;
};

}  // namespace

TERN_KERNELS(Einsum) { table.Add<Einsum>("Einsum", "cpu.einsum.gemm", Einsum::Legal); }

}  // namespace tern
