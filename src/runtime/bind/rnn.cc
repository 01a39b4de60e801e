// Binds Rnn (RNN, GRU, LSTM) to its CPU kernel.
#include "kernels/cpu/rnn/rnn.h"

#include <optional>

#include "kernels/cpu/support/blocking.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

// Returns the activation of a recurrent layer by name, with its default parameters.
std::optional<cpu::RnnFunction> FunctionOf(const std::string& name) {
  struct Row {
    const char* name;
    cpu::RnnFunction function;
  };
  static const Row rows[] = {{"tanh", {cpu::UnaryKind::kTanh}},
                             {"sigmoid", {cpu::UnaryKind::kSigmoid}},
                             {"relu", {cpu::UnaryKind::kRelu}},
                             {"leaky_relu", {cpu::UnaryKind::kLeakyRelu, 0.01f}},
                             {"hard_sigmoid", {cpu::UnaryKind::kHardSigmoid, 0.2f, 0.5f}},
                             {"elu", {cpu::UnaryKind::kElu, 1.f}},
                             {"softsign", {cpu::UnaryKind::kSoftsign}},
                             {"softplus", {cpu::UnaryKind::kSoftplus}}};
  for (const Row& row : rows)
    if (name == row.name) return row.function;
  return std::nullopt;
}

std::vector<std::string> Texts(const Attrs& attrs, const char* name) {
  for (const Attrs::Entry& e : attrs.List())
    if (e.name == name)
      if (const auto* list = std::get_if<std::vector<std::string>>(&e.value)) return *list;
  return {};
}

// Returns all activations of the layer, or nullopt if no kernel supports one of them.
std::optional<std::vector<cpu::RnnFunction>> FunctionsOf(const Attrs& a, cpu::RnnCellKind kind,
                                                         int64_t directions) {
  static const std::vector<std::string> defaults[] = {
      {"tanh"}, {"sigmoid", "tanh"}, {"sigmoid", "tanh", "tanh"}};
  auto names = Texts(a, "activations");
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults[static_cast<int>(kind)].begin(),
                   defaults[static_cast<int>(kind)].end());
  const auto alpha = a.Floats("activation_alpha"), beta = a.Floats("activation_beta");
  std::vector<cpu::RnnFunction> out;
  for (size_t i = 0; i < names.size(); ++i) {
    auto f = FunctionOf(names[i]);
    if (!f) return std::nullopt;
    if (!alpha.empty()) f->alpha = alpha[i];
    if (!beta.empty()) f->beta = beta[i];
    out.push_back(*f);
  }
  return out;
}

cpu::RnnCellKind KindOf(const Attrs& attrs) {
  return static_cast<cpu::RnnCellKind>(IndexOf(cpu::kRnnNames, attrs.Text("kind")));
}
int64_t DirectionsOf(const KernelQuery& q) { return q.attrs().Text("direction") == "bidirectional" ? 2 : 1; }

template <cpu::Operands kOperands> class Rnn : public KernelOf<Rnn<kOperands>> {
 public:
  static constexpr const char* kPack = kOperands == cpu::Operands::kBf16 ? "rnn.bf16" : "rnn.f32";
  static bool Legal(const KernelQuery& q) {
    if (kOperands == cpu::Operands::kBf16 && !(q.bf16 && !q.exact_integers && q.IsWeight(1) &&
                                               q.IsWeight(2) && q.InDims(2).back() >= kWorthRounding))
      return false;
    for (int i = 0; i < q.InputCount(); ++i)
      if (i != 4 && q.Has(i) && q.InType(i) != DType::kF32) return false;
    return q.OutType(0) == DType::kF32 &&
           FunctionsOf(q.attrs(), KindOf(q.attrs()), DirectionsOf(q)).has_value();
  }
  // Packs constant weights. Weights that are not constant are packed in each run.
  Status Prepare(PrepareContext& c) override {
    const Tensor *w = c.Weight(1), *r = c.Weight(2);
    if (!w || !r) return {};
    SetWeights(KindOf(c.attrs()), w->dims(), r->dims());
    TERN_ASSIGN(w_, c.Packed({1}, DType::kF32, {cpu::RnnInputSize(s_)}, [&](Tensor& to) {
      cpu::PackRnnInput(s_, w->data<const float>(), to.data<float>(), c.workers());
    }));
    TERN_ASSIGN(r_, c.Packed({2}, DType::kF32, {cpu::RnnStateSize(s_)}, [&](Tensor& to) {
      cpu::PackRnnState(s_, r->data<const float>(), to.data<float>(), c.workers());
    }));
    return {};
  }

  Status Resize(ResizeContext& c) override {
    const Attrs& a = c->attrs();
    const Dims& x = c->InDims(0);
    SetWeights(KindOf(a), c->InDims(1), c->InDims(2));
    s_.length = x[0], s_.batch = x[1];
    if (x[2] != s_.features || s_.directions != DirectionsOf(c.query()))
      return InvalidArgument("weights [", Join(c->InDims(1), ","), "] do not match x [", Join(x, ","), "]");
    s_.reverse = a.Text("direction") == "reverse";
    s_.clip = a.Float("clip");
    s_.linear_before_reset = a.Bool("linear_before_reset"), s_.input_forget = a.Bool("input_forget");
    s_.functions = *FunctionsOf(a, s_.kind, s_.directions);
    has_h_ = c->OutType(1) != DType::kInvalid, has_c_ = c->OutType(2) != DType::kInvalid;
    input_bytes_ =
        w_.defined() ? 0 : cpu::Aligned(static_cast<size_t>(cpu::RnnInputSize(s_)) * sizeof(float));
    panels_bytes_ =
        w_.defined()
            ? 0
            : input_bytes_ + cpu::Aligned(static_cast<size_t>(cpu::RnnStateSize(s_)) * sizeof(float));
    c.SetScratch(panels_bytes_ + cpu::RnnScratch(s_, c.threads()));
    return {};
  }
  Status Run(RunContext& c) override {
    cpu::RnnTensors t;
    const auto optional = [&](int i) { return c.Has(i) ? c.In<float>(i) : nullptr; };
    t.x = c.In<float>(0), t.b = optional(3);
    if (w_.defined()) {
      t.w = w_.data<const float>(), t.r = r_.data<const float>();
    } else {
      auto* w = c.scratch<float>();
      auto* r = reinterpret_cast<float*>(c.scratch<char>() + input_bytes_);
      cpu::PackRnnInput(s_, c.In<float>(1), w, c.workers());
      cpu::PackRnnState(s_, c.In<float>(2), r, c.workers());
      t.w = w, t.r = r;
    }
    t.h0 = optional(5), t.c0 = optional(6), t.p = optional(7);
    if (c.Has(4)) {
      t.lengths = c.In(4).raw(), t.wide_lengths = c.In(4).dtype() == DType::kI64;
      for (int64_t i = 0; i < s_.batch; ++i) {
        const int64_t n = LoadLong(c.In(4), i);
        if (n < 0 || n > s_.length)
          return InvalidArgument("sequence_lens[", i, "] is ", n, ", which is outside [0, ", s_.length, "]");
      }
    }
    t.y = c.Out<float>(0);
    t.y_h = has_h_ ? c.Out<float>(1) : nullptr;
    t.y_c = has_c_ ? c.Out<float>(2) : nullptr;
    cpu::RnnF32(s_, t, c.scratch<std::byte>() + panels_bytes_, c.workers());
    return {};
  }

 private:
  static constexpr int64_t kWorthRounding = 32;  // minimum hidden size for which bf16 is faster
  void SetWeights(cpu::RnnCellKind kind, const Dims& w, const Dims& r) {
    s_.kind = kind;
    s_.operands = kOperands;
    s_.directions = w[0], s_.features = w[2], s_.hidden = r[2];
  }

  cpu::RnnShape s_;
  Tensor w_, r_;                               // packed weights; undefined if they are packed in each run
  size_t input_bytes_ = 0, panels_bytes_ = 0;  // scratch sizes of weights that are packed in each run
  bool has_h_ = false, has_c_ = false;
};

}  // namespace

TERN_KERNELS(Rnn) {
  using Bf16 = Rnn<cpu::Operands::kBf16>;
  table.Add<Bf16>("Rnn", "cpu.rnn.bf16", Bf16::Legal, 0.5);
  AddWithHalf<Rnn<cpu::Operands::kF32>>(table, "Rnn", "cpu.rnn.f32");
}

}  // namespace tern
