#include "import/torch/script/loops.h"

#include "import/torch/script/dynamic_loop.h"

namespace tern::torch::script {
namespace {

// A longer loop becomes the op Loop. If its body does not permit that, the loop is unrolled.
constexpr int64_t kMaxUnrolled = 256;

}  // namespace

Status LoopImporter::Start(const Statement& statement) {
  return statement.kind == Statement::Kind::kFor ? StartFor(statement) : StartWhile(statement);
}

// Supports only loops over range(n), because PyTorch's compiler converts all other loops to this form.
Status LoopImporter::StartFor(const Statement& statement) {
  const Expr& range = *statement.value;
  if (range.kind != Expr::Kind::kCall || !range.items[0]->IsName("range") || range.items.size() != 2 ||
      statement.target->kind != Expr::Kind::kName)
    return in_.NotYet("a loop that is not over range(n)");
  TERN_ASSIGN(const Item count, in_.Eval(*range.items[1], frame_));
  TERN_ASSIGN(const Arg trips, in_.ToArg(count));
  if (trips.kind != Arg::Kind::kInt) return in_.Bad("range(n) needs an int, got ", count.Describe());
  if (trips.value) return DynamicLoop(in_, frame_, statement).Import(trips.value, nullptr);
  if (trips.integer <= 0) return {};
  if (trips.integer > kMaxUnrolled) {
    Builder b = in_.NewBuilder("prim::Loop");
    Value* number = b.Const(Tensor::Scalar(DType::kI64, static_cast<double>(trips.integer)));
    const Status status = DynamicLoop(in_, frame_, statement).Import(number, nullptr);
    if (status.ok() || status.code() != tern::Code::kUnsupported) return status;
  }
  frame_.work.push_back({&statement.body, 0, &statement, 0, trips.integer});
  return StartIteration();
}

Status LoopImporter::StartWhile(const Statement& statement) {
  TERN_ASSIGN(const Item value, in_.Eval(*statement.value, frame_));
  TERN_ASSIGN(const Arg condition, in_.ToBool(value));
  if (condition.value) return DynamicLoop(in_, frame_, statement).Import(nullptr, condition.value);
  if (condition.integer) frame_.work.push_back({&statement.body, 0, &statement, 0, 0});
  return {};
}

Status LoopImporter::StartIteration() {
  Work& work = frame_.work.back();
  work.next = 0;
  frame_.variables[work.loop->target->text] = Item(Arg::Int(work.iteration));
  return {};
}

Status LoopImporter::Next() {
  Work& work = frame_.work.back();
  const Statement& loop = *work.loop;
  if (loop.kind == Statement::Kind::kFor && ++work.iteration < work.trips) return StartIteration();
  frame_.work.pop_back();
  return loop.kind == Statement::Kind::kFor ? Status() : StartWhile(loop);
}

}  // namespace tern::torch::script
