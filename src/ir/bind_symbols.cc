#include "ir/bind_symbols.h"

namespace tern {

void BindSymbols(const Type& declared, const Dims& dims, SymbolValues& symbols) {
  const std::vector<Dim>& wanted = declared.shape.dims;
  if (wanted.size() != dims.size()) return;
  for (size_t i = 0; i < dims.size(); ++i) {
    std::vector<std::string> names;
    wanted[i].CollectSymbols(names);
    if (names.size() == 1 && wanted[i] == Dim::Symbol(names[0])) symbols.emplace(names[0], dims[i]);
  }
}

Type WithSymbols(Type type, const SymbolValues& symbols) {
  for (Dim& d : type.shape.dims) d = d.Substitute(symbols);
  return type;
}

}  // namespace tern
