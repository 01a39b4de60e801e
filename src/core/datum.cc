#include "core/datum.h"

namespace tern {

Datum Datum::SequenceOf(DatumList items) {
  Datum d;
  d.kind = Kind::kSequence;
  d.sequence = std::make_shared<const DatumList>(std::move(items));
  return d;
}

Datum Datum::None() {
  Datum d;
  d.kind = Kind::kNone;
  return d;
}

Datum Datum::MapOf(Tensor keys, DatumList values) {
  Datum d;
  d.kind = Kind::kMap;
  d.map = std::make_shared<const MapData>(MapData{std::move(keys), std::move(values)});
  return d;
}

std::string Datum::Describe() const {
  switch (kind) {
    case Kind::kEmpty:
      return "nothing";
    case Kind::kTensor:
      return tensor.Describe();
    case Kind::kSequence:
      return StrCat("sequence of ", sequence->size());
    case Kind::kNone:
      return "none";
    case Kind::kMap:
      return StrCat("map of ", map->values.size());
  }
  return "?";
}

Type TypeOf(const Datum& datum) {
  switch (datum.kind) {
    case Datum::Kind::kTensor:
      return Type::TensorOf(datum.tensor.dtype(), Shape::Of(datum.tensor.dims()));
    case Datum::Kind::kSequence:
      return Type::SequenceOf(datum.sequence->empty() ? Type() : TypeOf(datum.sequence->front()));
    case Datum::Kind::kMap:
      return Type::MapOf(datum.map->keys.dtype(),
                         datum.map->values.empty() ? Type() : TypeOf(datum.map->values.front()));
    case Datum::Kind::kNone:
      return Type::OptionalOf(Type());
    case Datum::Kind::kEmpty:
      break;
  }
  return {};
}

}  // namespace tern
