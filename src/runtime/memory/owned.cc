#include "runtime/memory/owned.h"

#include <algorithm>

namespace tern {
namespace {

bool IsOwned(const Datum& d) {
  switch (d.kind) {
    case Datum::Kind::kTensor:
      return d.tensor.buffer().owned() && d.tensor.contiguous();
    case Datum::Kind::kSequence:
      return std::all_of(d.sequence->begin(), d.sequence->end(), IsOwned);
    case Datum::Kind::kMap: {
      const auto& values = d.map->values;
      return d.map->keys.buffer().owned() && std::all_of(values.begin(), values.end(), IsOwned);
    }
    default:
      return true;
  }
}

template <class F> Datum Rebuild(const Datum& d, F copy_item) {
  auto copy_all = [&](const DatumList& list) {
    DatumList out;
    for (const Datum& item : list) out.push_back(copy_item(item));
    return out;
  };
  switch (d.kind) {
    case Datum::Kind::kTensor:
      return d.tensor.Clone();
    case Datum::Kind::kSequence:
      return Datum::SequenceOf(copy_all(*d.sequence));
    case Datum::Kind::kMap:
      return Datum::MapOf(d.map->keys.Clone(), copy_all(d.map->values));
    default:
      return d;
  }
}

}  // namespace

Datum Owned(Datum datum) {
  if (IsOwned(datum)) return datum;
  return Rebuild(datum, [](const Datum& item) { return Owned(item); });
}

Datum Copied(const Datum& datum) {
  return Rebuild(datum, [](const Datum& item) { return Copied(item); });
}

}  // namespace tern
