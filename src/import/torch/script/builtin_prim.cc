// Operators of the namespace prim, and others that control the program.
#include "import/torch/aten/scalar.h"
#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

Outcome RaiseException(Interpreter& in, const CallSite& call) {
  const bool text = !call.args.empty() && call.args[0].string();
  return in.Raise(text ? QuoteText(call.args[0].arg.text) : "an exception");
}

Outcome NumToTensor(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1) return NotMine();
  if (call.args[0].tensor()) return Done(call.args[0]);
  if (!call.args[0].number()) return NotMine();
  Builder b = in.NewBuilder(call.op);
  Value* scalar = ScalarValue(b, call.args[0].arg);
  TERN_TRY(Status(b.status()));
  return Done(Item(Arg::Of(TorchContext::NewTensor(scalar))));
}

Outcome First(Interpreter&, const CallSite& call) {
  return call.args.empty() ? Nothing() : Done(call.args[0]);
}

Outcome Ignore(Interpreter&, const CallSite&) { return Nothing(); }
Outcome True(Interpreter&, const CallSite&) { return Done(Item(Arg::Bool(true))); }
Outcome False(Interpreter&, const CallSite&) { return Done(Item(Arg::Bool(false))); }

Outcome UnwrapOptional(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1) return NotMine();
  if (call.args[0].none()) return in.Raise("\"Unwrapping null optional\"");
  return Done(call.args[0]);
}

Outcome TupleConstruct(Interpreter& in, const CallSite& call) { return Done(in.NewTuple(call.args)); }
Outcome ListConstruct(Interpreter& in, const CallSite& call) { return Done(in.NewList(call.args)); }

// Dropout is the identity, unless the model was saved in training mode.
Outcome Dropout(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 3 || !call.args[2].number()) return NotMine();
  const Arg& training = call.args[2].arg;
  if (training.known() && !training.integer) return Done(call.args[0]);
  if (call.args[1].number() && call.args[1].arg.known() && call.args[1].arg.AsDouble() == 0)
    return Done(call.args[0]);
  return in.NotYet(call.op, " in training mode; call model.eval() before torch.jit.save");
}

}  // namespace

void AddPrimBuiltins(BuiltinTable& table) {
  table.Add("prim::RaiseException", RaiseException);
  table.Add("prim::NumToTensor", NumToTensor);
  for (const char* op : {"aten::warn", "prim::Print", "aten::_assert_async", "aten::_assert_scalar",
                         "profiler::_record_function_exit", "profiler::_record_function_enter",
                         "aten::set_grad_enabled", "aten::manual_seed"})
    table.Add(op, Ignore);
  for (const char* op : {"aten::wait", "prim::data", "aten::detach", "aten::detach_", "aten::requires_grad_",
                         "prim::unchecked_unwrap_optional", "aten::cpu", "aten::cuda"})
    table.Add(op, First);
  table.Add("aten::_unwrap_optional", UnwrapOptional);
  table.Add("prim::TupleConstruct", TupleConstruct);
  table.Add("prim::ListConstruct", ListConstruct);
  // Gradients count as enabled, so that code takes its general path. The path without gradients calls fused
  // operators, such as _transformer_encoder_layer_fwd, which Tern does not have.
  table.Add("aten::is_grad_enabled", True);
  for (const char* op : {"aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled",
                         "aten::has_torch_function", "aten::is_tracing"})
    table.Add(op, False);
  table.Add("aten::is_scripting", True);
  for (const char* op :
       {"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout",
        "aten::dropout_", "aten::feature_dropout_", "aten::alpha_dropout_", "aten::feature_alpha_dropout_"})
    table.Add(op, Dropout);
}

}  // namespace tern::torch::script
