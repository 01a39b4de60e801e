// Converts recurrent layers.
#include <algorithm>
#include <cctype>

#include "import/onnx/ops/rnn_activations.h"
#include "ops/rnn/activation.h"

namespace tern::onnx {
namespace {

// Returns Tern's name of an activation, such as "leaky_relu" for "LeakyRelu". The ONNX name may have any
// case.
std::string ActivationName(const std::string& onnx) {
  static const char* const kNames[] = {"leaky_relu", "thresholded_relu", "scaled_tanh", "hard_sigmoid"};
  const std::string lower = LowerCase(onnx);
  for (const std::string name : kNames) {
    std::string bare = name;
    bare.erase(std::find(bare.begin(), bare.end(), '_'));
    if (lower == bare) return name;
  }
  return lower;
}

Value* Permute(OnnxNode& n, Value* x, std::vector<int64_t> perm) {
  return x ? n.b.Op("Transpose", {x}, {{"perm", std::move(perm)}}) : nullptr;
}

Status Recurrent(OnnxNode& n, const char* kind) {
  const bool lstm = std::string_view(kind) == "lstm", batch_first = n.Int("layout") != 0;
  std::string direction = LowerCase(n.Text("direction", "forward"));
  if (direction == "foward")
    direction = "forward";  // the specification of GRU version 1 misspells its default
  AttrList attrs = {{"kind", kind},
                    {"direction", direction},
                    {"hidden_size", n.Int("hidden_size")},
                    {"clip", static_cast<double>(n.Float("clip"))},
                    {"linear_before_reset", n.Int("linear_before_reset") != 0},
                    {"input_forget", n.Int("input_forget") != 0}};
  TERN_TRY(AddActivations(n, attrs));
  std::vector<Value*> in = {n.In(0),
                            n.In(1),
                            n.In(2),
                            n.In(3),
                            n.In(4),
                            n.In(5),
                            lstm ? n.In(6) : nullptr,
                            lstm ? n.In(7) : nullptr};
  if (batch_first)
    for (size_t i : {size_t{0}, size_t{5}, size_t{6}}) in[i] = Permute(n, in[i], {1, 0, 2});
  auto out = n.b.Ops("Rnn", in, attrs, lstm ? 3 : 2);
  if (batch_first) {
    out[0] = Permute(n, out[0], {2, 0, 1, 3});
    for (size_t i = 1; i < out.size(); ++i) out[i] = Permute(n, out[i], {1, 0, 2});
  }
  n.Out(out);
  return {};
}

}  // namespace

// ONNX's lists activation_alpha and activation_beta have entries only for activations that use such a
// parameter. Tern's lists have an entry for every activation.
Status AddActivations(const OnnxNode& n, AttrList& attrs) {
  const auto given = n.Texts("activations");
  if (given.empty()) return {};
  const auto alphas = n.Floats("activation_alpha"), betas = n.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<std::string> names;
  std::vector<double> alpha, beta;
  for (const std::string& text : given) {
    names.push_back(ActivationName(text));
    auto found = FindRnnActivation(names.back());
    if (!found.ok()) return n.Bad("activation '", text, "' is unknown");
    alpha.push_back(found->has_alpha && next_alpha < alphas.size() ? alphas[next_alpha++] : found->alpha);
    beta.push_back(found->has_beta && next_beta < betas.size() ? betas[next_beta++] : found->beta);
  }
  attrs.insert(attrs.end(), {{"activations", names}, {"activation_alpha", alpha}, {"activation_beta", beta}});
  return {};
}

TERN_CONVERTERS(rnn) {
  table.Add("RNN", [](OnnxNode& n) { return Recurrent(n, "rnn"); });
  table.Add("GRU", [](OnnxNode& n) { return Recurrent(n, "gru"); });
  table.Add("LSTM", [](OnnxNode& n) { return Recurrent(n, "lstm"); });
}

}  // namespace tern::onnx
