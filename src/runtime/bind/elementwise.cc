// Binds elementwise ops to their CPU kernels.
#include "kernels/cpu/elementwise/elementwise.h"

#include <utility>

#include "kernels/cpu/elementwise/eltwise.h"
#include "kernels/cpu/support/width.h"
#include "runtime/bind/support.h"

namespace tern {
namespace {

cpu::UnaryKind UnaryKindOf(const KernelQuery& q) {
  if (q.op().name == "Gelu")
    return q.attrs().Text("approximate") == "none" ? cpu::UnaryKind::kGelu : cpu::UnaryKind::kGeluTanh;
  return static_cast<cpu::UnaryKind>(IndexOf(cpu::kUnaryNames, q.attrs().Text("kind")));
}

class Unary : public KernelOf<Unary> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasUnary(UnaryKindOf(q), q.InType(0)); }
  static bool LegalActivation(const KernelQuery& q) { return IsFloat(q.InType(0)) && Legal(q); }
  Status Resize(ResizeContext& c) override {
    if (std::exchange(attrs_read_, true)) return {};
    kind_ = UnaryKindOf(c.query());
    if (c->op().name != "Activation") return {};
    alpha_ = c->attrs().Float("alpha"), beta_ = c->attrs().Float("beta");
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Unary(kind_, c.In(0).dtype(), c.In(0).raw(), c.Out(0).raw(), c.Out(0).size(), alpha_, beta_,
               c.workers());
    return {};
  }

 private:
  cpu::UnaryKind kind_ = cpu::UnaryKind::kAbs;
  float alpha_ = 0, beta_ = 0;
  bool attrs_read_ = false;  // whether the attributes, which never change, have been read
};

BinaryKind BinaryKindOf(const KernelQuery& q) {
  return static_cast<BinaryKind>(IndexOf(kBinaryNames, q.attrs().Text("kind")));
}

class Binary : public KernelOf<Binary> {
 public:
  static bool Legal(const KernelQuery& q) {
    return q.InType(0) == q.InType(1) && RankFits(q.OutDims(0)) &&
           cpu::HasBinary(BinaryKindOf(q), q.InType(0));
  }
  Status Resize(ResizeContext& c) override {
    kind_ = BinaryKindOf(c.query());
    plan_ = cpu::MakeBroadcast<2>(c->OutDims(0), {c->InDims(0), c->InDims(1)});
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Binary(kind_, c.In(0).dtype(), plan_, c.In(0).raw(), c.In(1).raw(), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  BinaryKind kind_ = BinaryKind::kAdd;
  cpu::Broadcast<2> plan_;
};

class Eltwise : public KernelOf<Eltwise> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasEltwise(q.OutType(0)) && RankFits(q.OutDims(0)); }
  Status Resize(ResizeContext& c) override {
    static constexpr BinaryKind kSteps[] = {BinaryKind::kAdd, BinaryKind::kMul, BinaryKind::kMax,
                                            BinaryKind::kMin};
    static constexpr const char* kKinds[] = {"sum", "prod", "max", "min"};
    if (!std::exchange(attrs_read_, true)) {
      plan_.step = kSteps[IndexOf(kKinds, c->attrs().Text("kind"))];
      plan_.factors = c->attrs().Floats("coefficients");
    }
    plan_.type = c->OutType(0);
    plan_.count = CountOf(c->OutDims(0));
    plan_.operands.clear();
    for (int i = 0; i < c->InputCount(); ++i)
      plan_.operands.push_back(cpu::MakeBroadcast<1>(c->OutDims(0), {c->InDims(i)}));
    operands_.assign(plan_.operands.size(), nullptr);
    return {};
  }
  Status Run(RunContext& c) override {
    for (size_t i = 0; i < operands_.size(); ++i) operands_[i] = c.In(static_cast<int>(i)).raw();
    cpu::Eltwise(plan_, operands_.data(), c.Out(0).raw(), c.workers());
    return {};
  }

 private:
  cpu::EltwisePlan plan_;
  bool attrs_read_ = false;  // whether the attributes, which never change, have been read
  std::vector<const void*> operands_;
};

class Where : public KernelOf<Where> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::WidthOf(q.OutType(0)) > 0 && RankFits(q.OutDims(0)); }
  Status Resize(ResizeContext& c) override {
    plan_ = cpu::MakeBroadcast<3>(c->OutDims(0), {c->InDims(0), c->InDims(1), c->InDims(2)});
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::Select(plan_, c.In<uint8_t>(0), c.In(1).raw(), c.In(2).raw(), c.Out(0).raw(),
                cpu::WidthOf(c.Out(0).dtype()), c.workers());
    return {};
  }

 private:
  cpu::Broadcast<3> plan_;
};

class Clip : public KernelOf<Clip> {
 public:
  static bool Legal(const KernelQuery& q) {
    return cpu::HasUnary(cpu::UnaryKind::kAbs, q.InType(0)) || q.InType(0) == DType::kF64;
  }
  Status Resize(ResizeContext& c) override {
    for (int i : {1, 2})
      if (c->Has(i) && CountOf(c->InDims(i)) != 1)
        return InvalidArgument("input ", i == 1 ? "'min'" : "'max'", " must hold one element, got ",
                               Describe(c->InType(i), c->InDims(i)));
    return {};
  }
  Status Run(RunContext& c) override {
    const auto bound = [&](int i) { return c.Has(i) ? c.In(i).raw() : nullptr; };
    cpu::Clip(c.In(0).dtype(), c.In(0).raw(), bound(1), bound(2), c.Out(0).raw(), c.Out(0).size(),
              c.workers());
    return {};
  }
};

class Cast : public KernelOf<Cast> {
 public:
  static bool Legal(const KernelQuery& q) { return cpu::HasCast(q.InType(0), q.OutType(0)); }
  Status Run(RunContext& c) override {
    cpu::Cast(c.In(0).dtype(), c.Out(0).dtype(), c.In(0).raw(), c.Out(0).raw(), c.Out(0).size(), c.workers());
    return {};
  }
};

}  // namespace

TERN_KERNELS(Elementwise) {
  table.Add<Unary>("Unary", "cpu.unary", Unary::Legal);
  table.Add<Unary>("Activation", "cpu.activation", Unary::LegalActivation);
  table.Add<Unary>("Gelu", "cpu.gelu", Unary::Legal);
  table.Add<Binary>("Binary", "cpu.binary", Binary::Legal);
  table.Add<Eltwise>("Eltwise", "cpu.eltwise", Eltwise::Legal);
  table.Add<Where>("Where", "cpu.where", Where::Legal);
  table.Add<Clip>("Clip", "cpu.clip", Clip::Legal);
  table.Add<Cast>("Cast", "cpu.cast", Cast::Legal);
}

}  // namespace tern
