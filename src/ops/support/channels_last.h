// Image ops are defined on [N, C, spatial…]. With the attribute `channels_last` they read and write tensors
// in the order [N, spatial…, C], which suits vector units.
#pragma once
#include <algorithm>
#include <vector>

#include "core/type.h"

namespace tern {

// A base class for the attributes of such ops. Converts dims and elements between the order [N, C, spatial…]
// ("channels first") and the order of the op's tensors ("own layout"), which depends on `channels_last`.
struct ChannelOrder {
  bool channels_last = false;

  template <class V> void VisitChannels(V& v) {
    v("channels_last", channels_last, "x and y are [N, spatial…, C] instead of [N, C, spatial…]");
  }

  template <class T> std::vector<T> ToChannelsFirst(std::vector<T> own) const {
    if (channels_last && own.size() > 2) std::rotate(own.begin() + 1, own.end() - 1, own.end());
    return own;
  }
  template <class T> std::vector<T> ToOwnLayout(std::vector<T> first) const {
    if (channels_last && first.size() > 2) std::rotate(first.begin() + 1, first.begin() + 2, first.end());
    return first;
  }
  Shape ToChannelsFirst(const Shape& own) const {
    return own.ranked ? Shape(ToChannelsFirst(own.dims)) : own;
  }
  Shape ToOwnLayout(const Shape& first) const {
    return first.ranked ? Shape(ToOwnLayout(first.dims)) : first;
  }

  // Convert the order of the elements. `first` has the dims in the order [N, C, spatial…].
  template <class T> std::vector<T> ValuesToChannelsFirst(std::vector<T> values, const Dims& first) const {
    return channels_last && first.size() > 2 ? Swapped(values, first[0], Plane(first), first[1]) : values;
  }
  template <class T> std::vector<T> ValuesToOwnLayout(std::vector<T> values, const Dims& first) const {
    return channels_last && first.size() > 2 ? Swapped(values, first[0], first[1], Plane(first)) : values;
  }

 private:
  static int64_t Plane(const Dims& first) { return CountOf(Dims(first.begin() + 2, first.end())); }
  // Transposes [batch, rows, columns] to [batch, columns, rows].
  template <class T>
  static std::vector<T> Swapped(const std::vector<T>& x, int64_t batch, int64_t rows, int64_t columns) {
    std::vector<T> y(x.size());
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          y[static_cast<size_t>((n * columns + j) * rows + i)] =
              x[static_cast<size_t>((n * rows + i) * columns + j)];
    return y;
  }
};

}  // namespace tern
