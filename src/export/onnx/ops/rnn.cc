// Exports recurrent layers.
#include <cctype>

#include "export/onnx/ops/common.h"
#include "ops/rnn/activation.h"

namespace tern::onnx {
namespace {

// Returns ONNX's name of an activation, for example "LeakyRelu" for "leaky_relu".
std::string OnnxName(const std::string& name) {
  std::string out;
  bool upper = true;
  for (char c : name) {
    if (c != '_') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return out;
}

// Adds the activations and their parameters to `attrs`. ONNX's lists activation_alpha and activation_beta
// have entries only for activations that use such a parameter.
Status AddActivations(const Attrs& a, AttrList& attrs) {
  std::vector<std::string> names;
  std::vector<double> alpha, beta;
  const auto alphas = a.Floats("activation_alpha"), betas = a.Floats("activation_beta");
  for (const auto& entry : a.List()) {
    if (entry.name != "activations") continue;
    for (const std::string& name : std::get<std::vector<std::string>>(entry.value)) {
      TERN_ASSIGN(RnnActivation f, FindRnnActivation(name));
      const size_t at = names.size();
      if (f.has_alpha) alpha.push_back(alphas.empty() ? f.alpha : alphas[at]);
      if (f.has_beta) beta.push_back(betas.empty() ? f.beta : betas[at]);
      names.push_back(OnnxName(name));
    }
  }
  if (!names.empty()) attrs.emplace_back("activations", names);
  if (!alpha.empty()) attrs.emplace_back("activation_alpha", alpha);
  if (!beta.empty()) attrs.emplace_back("activation_beta", beta);
  return {};
}

Result<AttrList> AttrsOf(TernNode& n, const std::string& kind) {
  const Attrs& a = n.attrs();
  const Shape& r = n.TypeOf(2).shape;
  int64_t hidden = a.Int("hidden_size");
  if (!hidden && r.rank() == 3 && r[2].known()) hidden = r[2].value();
  if (!hidden) return n.NotExportable("the size of its state is not known");
  AttrList attrs = {{"hidden_size", hidden}, {"direction", a.Text("direction")}};
  if (a.Float("clip") > 0) attrs.emplace_back("clip", static_cast<double>(a.Float("clip")));
  if (kind == "gru") attrs.emplace_back("linear_before_reset", a.Bool("linear_before_reset"));
  if (kind == "lstm") attrs.emplace_back("input_forget", a.Bool("input_forget"));
  TERN_TRY(AddActivations(a, attrs));
  return attrs;
}

Status Rnn(TernNode& n) {
  const std::string kind = n.attrs().Text("kind");
  TERN_ASSIGN(const AttrList attrs, AttrsOf(n, kind));
  const DType own = n.TypeOf(0).dtype, work = WithoutBFloat(own);
  std::vector<std::string> inputs;
  for (int i = 0; i < (kind == "lstm" ? 8 : 6); ++i) {
    if (i == 4)
      inputs.push_back(n.Has(4) ? CastName(n, n.In(4), n.TypeOf(4).dtype, DType::kI32) : "");
    else
      inputs.push_back(n.Has(i) ? CastName(n, n.In(i), n.TypeOf(i).dtype, work) : "");
  }
  std::vector<std::string> outputs;
  for (size_t i = 0; i < (kind == "lstm" ? 3 : 2); ++i)
    outputs.push_back(!Wanted(n, i) ? "" : own == work ? n.Out(static_cast<int>(i)) : n.Temp());
  while (outputs.size() > 1 && outputs.back().empty()) outputs.pop_back();
  n.Emit(kind == "lstm" ? "LSTM" : kind == "gru" ? "GRU" : "RNN", inputs, outputs, attrs);
  for (size_t i = 0; own != work && i < outputs.size(); ++i)
    if (!outputs[i].empty()) n.Emit("Cast", {outputs[i]}, {n.Out(static_cast<int>(i))}, {{"to", own}});
  return {};
}

}  // namespace

TERN_EXPORTERS(rnn) { table.Add("Rnn", Rnn); }

}  // namespace tern::onnx
