#include "server/dialects/tfs/data_types.h"

#include <cctype>

#include "base/strings.h"

namespace tern::server::tfs {
namespace {

struct Row {
  int number;
  DType dtype;
  const char* name;
};

constexpr Row kRows[] = {
    {1, DType::kF32, "DT_FLOAT"},        {2, DType::kF64, "DT_DOUBLE"},
    {3, DType::kI32, "DT_INT32"},        {4, DType::kU8, "DT_UINT8"},
    {5, DType::kI16, "DT_INT16"},        {6, DType::kI8, "DT_INT8"},
    {7, DType::kString, "DT_STRING"},    {8, DType::kInvalid, "DT_COMPLEX64"},
    {9, DType::kI64, "DT_INT64"},        {10, DType::kBool, "DT_BOOL"},
    {11, DType::kInvalid, "DT_QINT8"},   {12, DType::kInvalid, "DT_QUINT8"},
    {13, DType::kInvalid, "DT_QINT32"},  {14, DType::kBF16, "DT_BFLOAT16"},
    {15, DType::kInvalid, "DT_QINT16"},  {16, DType::kInvalid, "DT_QUINT16"},
    {17, DType::kU16, "DT_UINT16"},      {18, DType::kInvalid, "DT_COMPLEX128"},
    {19, DType::kF16, "DT_HALF"},        {20, DType::kInvalid, "DT_RESOURCE"},
    {21, DType::kInvalid, "DT_VARIANT"}, {22, DType::kU32, "DT_UINT32"},
    {23, DType::kU64, "DT_UINT64"},
};

}  // namespace

DType TypeOfNumber(int number) {
  for (const Row& row : kRows)
    if (row.number == number) return row.dtype;
  return DType::kInvalid;
}

int NumberOfType(DType dtype) {
  if (dtype == DType::kInvalid) return 0;
  for (const Row& row : kRows)
    if (row.dtype == dtype) return row.number;
  return 0;
}

std::string NumberName(int number) {
  for (const Row& row : kRows)
    if (row.number == number) return row.name;
  return number == 0 ? "DT_INVALID" : StrCat(number);
}

std::string TypeName(DType dtype) { return LowerCase(NumberName(NumberOfType(dtype)).substr(3)); }

}  // namespace tern::server::tfs
