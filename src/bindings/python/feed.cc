#include "bindings/python/feed.h"

#include <nanobind/stl/string.h>

#include "bindings/python/buffer_view.h"
#include "bindings/python/describe.h"
#include "bindings/python/errors.h"
#include "bindings/python/numpy.h"
#include "runtime/memory/owned.h"

namespace tern::python {
namespace {

constexpr int kMaxDepth = 32;  // nesting of lists and dicts

std::string TypeName(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__qualname__")));
}

// Returns the text of a str or the bytes of a bytes object.
std::string ToText(nb::handle object, const std::string& what) {
  if (PyBytes_Check(object.ptr())) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object.ptr(), &data, &size) != 0) throw nb::python_error();
    return std::string(data, static_cast<size_t>(size));
  }
  if (!PyUnicode_Check(object.ptr()))
    Raise(InvalidArgument(what, " takes strings, got a value of the type ", TypeName(object)));
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return ToText(bytes, what);
}

Dims DimsOf(nb::handle array) {
  Dims dims;
  for (nb::handle d : nb::borrow<nb::tuple>(array.attr("shape"))) dims.push_back(nb::cast<int64_t>(d));
  return dims;
}

Tensor StringTensor(nb::handle object, const std::string& what) {
  // A str or bytes object is one element. numpy would drop trailing zeros of bytes.
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()))
    return Tensor::Strings({}, {ToText(object, what)});
  const nb::object array = IsNdarray(object) ? nb::borrow(object) : AsArray(object, DtypeOf(DType::kString));
  std::vector<std::string> strings;
  for (nb::handle item : array.attr("ravel")().attr("tolist")()) strings.push_back(ToText(item, what));
  return Tensor::Strings(DimsOf(array), strings);
}

// Packs the low bits of the bytes of `from` into elements of less than 8 bits.
Tensor Pack(const Tensor& from, DType dtype) {
  Tensor to(dtype, from.dims());
  const int bits = BitWidth(dtype), per_byte = 8 / bits;
  for (int64_t i = 0; i < from.size(); ++i)
    to.data<uint8_t>()[i / per_byte] |=
        static_cast<uint8_t>((from.data<uint8_t>()[i] & ((1 << bits) - 1)) << (i % per_byte * bits));
  return to;
}

// Fails if an element of an i8 or u8 tensor does not fit into the type.
void CheckRange(const Tensor& from, DType dtype, const std::string& what) {
  const int bits = BitWidth(dtype);
  const int low = IsSignedInt(dtype) ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
  for (int64_t i = 0; i < from.size(); ++i)
    if (const int64_t value = LoadLong(from, i); value < low || value > high)
      Raise(InvalidArgument(what, ": element ", i, " is ", value, ", but ", DTypeName(dtype),
                            " represents only ", low, " to ", high));
}

// Returns whether numpy has no such type.
bool Foreign(DType dtype) {
  return dtype == DType::kBF16 || (BitWidth(dtype) > 0 && BitWidth(dtype) < 8) ||
         (IsFloat(dtype) && BitWidth(dtype) == 8);
}

bool IsNumber(DType dtype) { return IsFloat(dtype) || IsInt(dtype) || dtype == DType::kBool; }

// Returns whether integers of the type `got` may contain the bits of elements of the type `declared`.
bool HoldsBits(DType declared, DType got) {
  const int bits = BitWidth(declared);
  if (bits == 0) return false;
  if (bits < 8) return got == DType::kI8 || got == DType::kU8;
  return Foreign(declared) && got == (bits == 16 ? DType::kU16 : DType::kU8);
}

// Gives the tensor the declared type if its integers stand for the bits of a type that numpy lacks.
Tensor Reinterpret(const Tensor& tensor, DType declared, const std::string& what) {
  if (tensor.dtype() == declared || !HoldsBits(declared, tensor.dtype())) return tensor;
  if (BitWidth(declared) < 8) {
    CheckRange(tensor, declared, what);
    return Pack(tensor, declared);
  }
  return Tensor::View(tensor.buffer(), declared, tensor.dims());
}

// Takes an array that ViewOf refuses: the array is strided, or has another byte order or a dtype of
// ml_dtypes. Copies the array unless it is contiguous, aligned and in native byte order.
Tensor CopiedArray(nb::handle array, const std::string& what, Loans& loans) {
  const nb::object dtype = array.attr("dtype");
  const DType type = TypeOfDtype(dtype);
  if (type == DType::kInvalid)
    Raise(InvalidArgument(what, ": arrays of dtype ", nb::cast<std::string>(nb::str(dtype)),
                          " are not supported"));
  const nb::object native = Attribute("numpy", "require")(array, DtypeOf(type), "CA");
  const nb::object shaped = native.attr("reshape")(array.attr("shape"));  // a scalar has become [1]
  const nb::object plain =
      Foreign(type) ? nb::object(shaped.attr("view")(BitWidth(type) == 16 ? "uint16" : "uint8")) : shaped;
  const std::optional<Tensor> view = ViewOf(plain, false, loans);
  if (!view)
    Raise(InvalidArgument(what, ": the memory of the array of dtype ", nb::cast<std::string>(nb::str(dtype)),
                          " cannot be read"));
  loans.Keep(plain);
  if (!Foreign(type)) return *view;
  if (BitWidth(type) < 8) return Pack(*view, type);
  return Tensor::View(view->buffer(), type, view->dims());
}

Tensor ToTensor(nb::handle object, DType declared, const std::string& what, Loans& loans) {
  const bool text = PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr());
  if (!text)
    if (const std::optional<Tensor> view = ViewOf(object, false, loans))
      return Reinterpret(*view, declared, what);
  if (declared == DType::kString) return StringTensor(object, what);
  if (text) Raise(InvalidArgument(what, " is a tensor of ", DTypeName(declared), ", got a string"));
  nb::object array = nb::borrow(object);
  if (!IsNdarray(object)) {
    const bool known = declared != DType::kInvalid;
    array = known ? Attribute("tern.convert", "to_array")(object, DtypeOf(declared), what)
                  : AsArray(object, nb::none());
    loans.Keep(array);
    if (const std::optional<Tensor> view = ViewOf(array, false, loans))
      return Reinterpret(*view, declared, what);
  }
  if (nb::cast<std::string>(array.attr("dtype").attr("kind")) == "O")
    Raise(InvalidArgument(what, " is a tensor of ", DTypeName(declared), ", got an array of Python objects"));
  return TypeOfDtype(array.attr("dtype")) == DType::kString ? StringTensor(array, what)
                                                            : CopiedArray(array, what, loans);
}

Datum Convert(nb::handle object, const Type& declared, const std::string& what, Loans& loans, int depth);

Datum ToSequence(nb::handle object, const Type& element, const std::string& what, Loans& loans, int depth) {
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || PyDict_Check(object.ptr()) ||
      !PySequence_Check(object.ptr()))
    Raise(
        InvalidArgument(what, " is a sequence, got a value of the type ", TypeName(object), "; pass a list"));
  DatumList items;
  for (nb::handle item : object)
    items.push_back(Convert(item, element, StrCat(what, " item ", items.size()), loans, depth + 1));
  return Datum::SequenceOf(std::move(items));
}

Datum ToMap(nb::handle object, const Type& declared, const std::string& what, Loans& loans, int depth) {
  if (!PyDict_Check(object.ptr()))
    Raise(InvalidArgument(what, " is a map, got a value of the type ", TypeName(object), "; pass a dict"));
  const auto dict = nb::borrow<nb::dict>(object);
  const nb::list keys = nb::list(dict.keys());
  const nb::list items = nb::list(dict.values());  // Convert may run Python code, which may change the dict
  DatumList values;
  for (nb::handle value : items)
    values.push_back(
        Convert(value, *declared.element, StrCat(what, " value ", values.size()), loans, depth + 1));
  Tensor names = ToTensor(keys, declared.dtype, StrCat(what, " keys"), loans);
  return Datum::MapOf(names.Clone(), std::move(values));
}

Datum Convert(nb::handle object, const Type& declared, const std::string& what, Loans& loans, int depth) {
  if (depth > kMaxDepth) Raise(InvalidArgument(what, " is nested more than ", kMaxDepth, " times"));
  switch (declared.kind) {
    case Type::Kind::kOptional:
      if (object.is_none()) return Datum::None();
      return Convert(object, *declared.element, what, loans, depth + 1);
    case Type::Kind::kSequence:
      return ToSequence(object, *declared.element, what, loans, depth);
    case Type::Kind::kMap:
      return ToMap(object, declared, what, loans, depth);
    default:
      break;
  }
  if (object.is_none()) Raise(InvalidArgument(what, " is ", declared.ToString(), ", got None"));
  return ToTensor(object, declared.dtype, what, loans);
}

}  // namespace

Loans::~Loans() {
  for (Py_buffer& view : views_) PyBuffer_Release(&view);
}

Datum ToDatum(nb::handle object, const Type& declared, const std::string& what, Loans& loans) {
  return Convert(object, declared, what, loans, 0);
}

Status CheckElementType(nb::handle object, const Type& declared, const Datum& datum,
                        const std::string& what) {
  const DType want = declared.dtype, got = datum.is_tensor() ? datum.tensor.dtype() : want;
  if (!declared.tensor() || want == DType::kInvalid || got == want) return {};
  const bool numbers = IsNumber(want) && IsNumber(got);
  const std::string module = nb::cast<std::string>(nb::str(object.type().attr("__module__")));
  std::string fix;
  if (numbers && StartsWith(module, "torch"))
    fix = StrCat("; convert it with .to(torch.", DtypeName(want), ")");
  else if (numbers)
    fix = StrCat("; convert it with .astype(", Foreign(want) ? "ml_dtypes." : "np.", DtypeName(want),
                 want == DType::kBool ? "_)" : ")");
  return InvalidArgument(what, " must be ", declared.ToString(), ", got ", datum.Describe(), fix);
}

Tensor ToBoundTensor(nb::handle array, DType declared, const std::string& what, Loans& loans) {
  std::optional<Tensor> view = ViewOf(array, true, loans);
  // Arrays of ml_dtypes do not give access to their memory. Views of this memory as integers do.
  if (!view && IsNdarray(array) && Foreign(declared) && BitWidth(declared) >= 8 &&
      TypeOfDtype(array.attr("dtype")) == declared)
    view = ViewOf(array.attr("view")(BitWidth(declared) == 16 ? "uint16" : "uint8"), true, loans);
  if (!view)
    Raise(InvalidArgument(what, " cannot be written to a value of the type ", TypeName(array),
                          "; bind a writable, C-contiguous array"));
  if (BitWidth(declared) < 8 || !HoldsBits(declared, view->dtype())) return *view;
  return Tensor::View(view->buffer(), declared, view->dims());
}

nb::object FromDatum(const Datum& datum) {
  switch (datum.kind) {
    case Datum::Kind::kTensor:
      return CopyToArray(datum.tensor);
    case Datum::Kind::kSequence: {
      nb::list items;
      for (const Datum& item : *datum.sequence) items.append(FromDatum(item));
      return items;
    }
    case Datum::Kind::kMap: {
      const nb::object keys = CopyToArray(datum.map->keys).attr("tolist")();
      nb::dict entries;
      size_t i = 0;
      for (nb::handle key : keys) {
        const Datum& value = datum.map->values[i++];
        // Scalars, such as the entries of ZipMap's maps, become Python numbers.
        const bool scalar = value.is_tensor() && value.tensor.rank() == 0;
        entries[key] = scalar ? FromDatum(value).attr("item")() : FromDatum(value);
      }
      return entries;
    }
    default:
      return nb::none();
  }
}

}  // namespace tern::python
