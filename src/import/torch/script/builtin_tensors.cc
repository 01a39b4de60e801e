// Properties of tensors, and conversions between tensors and numbers.
#include "import/torch/aten/scalar.h"
#include "import/torch/script/builtins.h"
#include "import/torch/script/constant_value.h"
#include "import/torch/script/literal.h"

namespace tern::torch::script {
namespace {

bool IsTensor(const CallSite& call, size_t least = 1) {
  return call.args.size() >= least && call.args[0].tensor();
}

// Returns the rank, or an error if it is not known.
Result<int> RankOf(Interpreter& in, const CallSite& call) {
  const Shape& shape = call.args[0].arg.tensor->type().shape;
  if (!shape.ranked) return in.NotYet(call.op, " of a tensor whose rank is not known");
  return shape.rank();
}

Result<Value*> Read(Interpreter& in, const Item& tensor, Builder& b) {
  return in.context.Read(*tensor.arg.tensor, b);
}

Outcome Size(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  TERN_ASSIGN(const int rank, RankOf(in, call));
  Builder b = in.NewBuilder(call.op);
  TERN_ASSIGN(Value * x, Read(in, call.args[0], b));
  const Item* dim = call.args.size() > 1 ? &call.args[1] : call.Keyword("dim");
  if (dim && !dim->none()) {
    if (!dim->known_int()) return in.NotYet("the size of a computed axis");
    const int64_t axis = dim->arg.integer < 0 ? dim->arg.integer + rank : dim->arg.integer;
    if (axis < 0 || axis >= rank)
      return in.Raise(StrCat("axis ", dim->arg.integer, " of a tensor of rank ", rank));
    Arg size = SizeOf(b, x, axis);
    TERN_TRY(Status(b.status()));
    return Done(Item(std::move(size)));
  }
  std::vector<Item> sizes;
  for (int64_t i = 0; i < rank; ++i) sizes.emplace_back(SizeOf(b, x, i));
  TERN_TRY(Status(b.status()));
  return Done(in.NewList(std::move(sizes)));
}

Outcome Rank(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  TERN_ASSIGN(const int rank, RankOf(in, call));
  return Done(Item(Arg::Int(rank)));
}

Outcome TensorLength(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  return Done(in.CallOp({"aten::size", {call.args[0], Item(Arg::Int(0))}, {}}));
}

Outcome Count(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  TERN_ASSIGN(const Item sizes, in.CallOp({"aten::size", {call.args[0]}, {}}));
  Item product(Arg::Int(1));
  for (const Item& size : sizes.cell->items) {
    TERN_ASSIGN(product, in.CallOp({"aten::mul", {product, size}, {}}));
  }
  return Done(product);
}

// Computes the strides of row-major order. Fails if PyTorch would store the elements in another order.
Outcome Stride(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  TERN_ASSIGN(const Item sizes, in.CallOp({"aten::size", {call.args[0]}, {}}));
  if (!call.args[0].arg.tensor->dense) return in.NotYet("the strides of a view");
  std::vector<Item> strides(sizes.cell->items.size());
  Item stride(Arg::Int(1));
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    TERN_ASSIGN(stride, in.CallOp({"aten::mul", {stride, sizes.cell->items[i]}, {}}));
  }
  const Item list = in.NewList(std::move(strides));
  if (call.args.size() == 1) return Done(list);
  return Done(in.CallOp({"aten::__getitem__", {list, call.args[1]}, {}}));
}

Outcome DTypeNumber(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  const DType dtype = call.args[0].arg.tensor->type().dtype;
  constexpr int64_t kScalarTypes = 64;
  for (int64_t i = 0; i < kScalarTypes; ++i)
    if (DTypeOfScalarType(i) == dtype && dtype != DType::kInvalid) return Done(Item(Arg::Int(i)));
  return in.NotYet("the element type of ", call.args[0].Describe());
}

Outcome Device(Interpreter&, const CallSite& call) {
  return IsTensor(call) ? Done(Item(Arg::Device("cpu"))) : NotMine();
}
// Returns the kind of a device, such as "cpu", or its index, which is None.
Outcome DeviceType(Interpreter&, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].Is(Item::Kind::kArg) ||
      call.args[0].arg.kind != Arg::Kind::kDevice)
    return NotMine();
  if (call.op == "prim::index") return Nothing();
  return Done(Item(Arg::String(call.args[0].arg.text.substr(0, call.args[0].arg.text.find(':')))));
}
Outcome Layout(Interpreter&, const CallSite& call) {
  return IsTensor(call) ? Done(Item(Arg::Int(0))) : NotMine();
}
Outcome No(Interpreter&, const CallSite& call) {
  return IsTensor(call) ? Done(Item(Arg::Bool(false))) : NotMine();
}
Outcome Yes(Interpreter&, const CallSite& call) {
  return IsTensor(call) ? Done(Item(Arg::Bool(true))) : NotMine();
}
Outcome NoGradient(Interpreter&, const CallSite& call) { return IsTensor(call) ? Nothing() : NotMine(); }

// True for float constants of the graph, because parameters are such constants.
Outcome RequiresGrad(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  Builder b = in.NewBuilder(call.op);
  TERN_ASSIGN(const Value* x, Read(in, call.args[0], b));
  return Done(Item(Arg::Bool(x->is_constant() && IsFloat(x->type.dtype))));
}

Outcome IsFloating(Interpreter&, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  return Done(Item(Arg::Bool(IsFloat(call.args[0].arg.tensor->type().dtype))));
}
Outcome IsComplex(Interpreter&, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  return Done(Item(Arg::Bool(call.args[0].arg.tensor->complex)));
}

// int(x), float(x), bool(x) and x.item() of a tensor with one element.
Outcome ToNumber(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  Builder b = in.NewBuilder(call.op);
  TERN_ASSIGN(Value * x, Read(in, call.args[0], b));
  DType to = x->type.dtype;
  if (call.op == "aten::Int" || call.op == "aten::IntImplicit") to = DType::kI64;
  if (call.op == "aten::Float" || call.op == "aten::FloatImplicit") to = DType::kF32;
  if (call.op == "aten::Bool") to = DType::kBool;
  if (to != DType::kBool) to = IsFloat(to) ? DType::kF32 : DType::kI64;
  if (x->type.shape.ranked && x->type.shape.fully_known() && CountOf(x->type.shape.Concrete()) != 1)
    return in.Raise(StrCat("a tensor ", x->type.ToString(), " has not one element"));
  if (const auto known = ConstantValue(*x); known && known->size() == 1) {
    const Tensor one = known->Contiguous();
    if (to == DType::kBool) return Done(Item(Arg::Bool(LoadDouble(one, 0) != 0)));
    if (to == DType::kF32) return Done(Item(Arg::Float(LoadDouble(one, 0))));
    return Done(
        Item(Arg::Int(IsFloat(one.dtype()) ? static_cast<int64_t>(LoadDouble(one, 0)) : LoadLong(one, 0))));
  }
  if (x->type.shape.rank() != 0) x = b.Op("Reshape", {x, b.Ints({})});
  if (x->type.dtype != to) x = b.Op("Cast", {x}, {{"to", to}});
  TERN_TRY(Status(b.status()));
  return Done(Item(Arg::Computed(x)));
}

Outcome TensorGetItem(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call, 2) || !call.args[1].number()) return NotMine();
  return Done(in.CallOp({"aten::select", {call.args[0], Item(Arg::Int(0)), call.args[1]}, {}}));
}

// x.tolist() gives numbers, or nested lists of them.
Outcome ToList(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call)) return NotMine();
  TERN_ASSIGN(const int rank, RankOf(in, call));
  if (rank == 0) return Done(in.CallOp({"aten::item", {call.args[0]}, {}}));
  TERN_ASSIGN(const Item rows, in.CallOp({"aten::unbind", {call.args[0]}, {}}));
  if (rows.cell->sequence) return in.NotYet("tolist() of a tensor whose size depends on the inputs");
  std::vector<Item> items;
  for (const Item& row : rows.cell->items) {
    TERN_ASSIGN(Item item, in.CallOp({"aten::tolist", {row}, {}}));
    items.push_back(std::move(item));
  }
  return Done(in.NewList(std::move(items)));
}

Outcome Tensor_(Interpreter& in, const CallSite& call) {
  if (call.args.empty()) return NotMine();
  const Item* dtype = call.Keyword("dtype");
  if (!dtype && call.args.size() > 1) dtype = &call.args[1];
  if (call.args[0].tensor()) {
    if (!dtype || dtype->none()) return Done(call.args[0]);
    return Done(in.CallOp({"aten::to", {call.args[0], *dtype}, {}}));
  }
  if (!call.args[0].number() && !call.args[0].list_or_tuple()) return NotMine();
  return Done(LiteralTensor(in, call.args[0], dtype ? *dtype : Item()));
}

Outcome TensorEqual(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call, 2) || !call.args[1].tensor()) return NotMine();
  TERN_ASSIGN(const Item same, in.CallOp({"aten::eq", call.args, {}}));
  TERN_ASSIGN(const Item all, in.CallOp({"aten::all", {same}, {}}));
  return Done(in.CallOp({"aten::Bool", {all}, {}}));
}

// The overload of aten::split with a list of sizes exists only in TorchScript. It equals split_with_sizes.
Outcome TensorSplit(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call, 2) || !call.args[1].list_or_tuple()) return NotMine();
  return Done(in.CallOp({"aten::split_with_sizes", call.args, call.keywords}));
}

// A convolution whose padding is a text: "same" or "valid".
Outcome ConvolutionMode(Interpreter& in, const CallSite& call) {
  if (!IsTensor(call, 2) || !call.args[1].tensor()) return NotMine();
  const int dims = call.args[1].arg.tensor->type().shape.rank() - 2;
  return Done(in.CallOp({StrCat("aten::conv", dims, "d"), call.args, call.keywords}));
}

}  // namespace

void AddTensorBuiltins(BuiltinTable& table) {
  for (const char* op : {"aten::size", "prim::shape"}) table.Add(op, Size);
  for (const char* op : {"aten::dim", "aten::ndimension", "prim::ndim"}) table.Add(op, Rank);
  table.Add("aten::len", TensorLength);
  for (const char* op : {"aten::numel", "aten::nelement"}) table.Add(op, Count);
  table.Add("aten::stride", Stride);
  table.Add("prim::dtype", DTypeNumber);
  table.Add("prim::device", Device);
  for (const char* op : {"prim::type", "prim::index"}) table.Add(op, DeviceType);
  table.Add("prim::layout", Layout);
  for (const char* op : {"prim::is_cuda", "prim::is_quantized", "prim::is_sparse", "prim::is_sparse_csr",
                         "prim::is_mkldnn", "prim::is_nested", "prim::is_meta", "prim::is_mps",
                         "prim::is_xpu", "prim::is_vulkan", "prim::is_ipu", "prim::is_hpu", "prim::is_maia",
                         "prim::is_mtia", "aten::is_conj", "aten::is_neg", "aten::is_inference"})
    table.Add(op, No);
  for (const char* op : {"prim::is_cpu", "prim::is_leaf", "aten::is_contiguous"}) table.Add(op, Yes);
  table.Add("prim::grad", NoGradient);
  table.Add("prim::requires_grad", RequiresGrad);
  table.Add("aten::is_floating_point", IsFloating);
  table.Add("aten::is_complex", IsComplex);
  for (const char* op : {"aten::Int", "aten::Float", "aten::Bool", "aten::item", "aten::IntImplicit",
                         "aten::FloatImplicit", "aten::ScalarImplicit"})
    table.Add(op, ToNumber);
  table.Add("aten::__getitem__", TensorGetItem);
  for (const char* op : {"aten::tolist", "prim::tolist"}) table.Add(op, ToList);
  for (const char* op : {"aten::tensor", "aten::as_tensor"}) table.Add(op, Tensor_);
  table.Add("aten::equal", TensorEqual);
  table.Add("aten::split", TensorSplit);
  table.Add("aten::_convolution_mode", ConvolutionMode);
}

}  // namespace tern::torch::script
