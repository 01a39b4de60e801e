// The codings of samples in WAV files: PCM, floats and G.711.
#include <array>
#include <bit>
#include <cstring>

#include "data/audio/wav.h"

namespace tern::data {
namespace {

template <class T> T Load(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class F> void ForEach(std::string_view bytes, size_t size, std::vector<float>& out, const F& f) {
  const char* at = bytes.data();
  for (float& sample : out) {
    sample = f(at);
    at += size;
  }
}

void ConvertPcm(int size, std::string_view bytes, std::vector<float>& out) {
  switch (size) {
    case 1:  // the only size whose samples are unsigned
      return ForEach(bytes, 1, out, [](const char* p) {
        return static_cast<float>(static_cast<int>(Load<uint8_t>(p)) - 128) * 0x1p-7f;
      });
    case 2:
      return ForEach(bytes, 2, out,
                     [](const char* p) { return static_cast<float>(Load<int16_t>(p)) * 0x1p-15f; });
    case 3:
      return ForEach(bytes, 3, out, [](const char* p) {
        const uint32_t low = Load<uint16_t>(p), high = Load<uint8_t>(p + 2);
        return static_cast<float>(static_cast<int32_t>((low | high << 16) << 8)) * 0x1p-31f;
      });
    default:
      return ForEach(bytes, 4, out,
                     [](const char* p) { return static_cast<float>(Load<int32_t>(p)) * 0x1p-31f; });
  }
}

// G.711: a sign bit, three bits of exponent and four of mantissa.
float MuLaw(uint8_t code) {
  const int inverted = ~code & 0xFF;
  const int exponent = inverted >> 4 & 7, mantissa = inverted & 15;
  const int magnitude = (((mantissa << 3) + 132) << exponent) - 132;
  return static_cast<float>(inverted & 0x80 ? -magnitude : magnitude) * 0x1p-15f;
}

float ALaw(uint8_t code) {
  const int toggled = code ^ 0x55;
  const int exponent = toggled >> 4 & 7, mantissa = toggled & 15;
  const int magnitude = exponent == 0 ? (mantissa << 4) + 8 : ((mantissa << 4) + 264) << (exponent - 1);
  return static_cast<float>(toggled & 0x80 ? magnitude : -magnitude) * 0x1p-15f;
}

void ConvertByTable(float (*decode)(uint8_t), std::string_view bytes, std::vector<float>& out) {
  std::array<float, 256> table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = decode(static_cast<uint8_t>(i));
  ForEach(bytes, 1, out, [&](const char* p) { return table[Load<uint8_t>(p)]; });
}

}  // namespace

void ConvertWavSamples(const WavLayout& layout, std::string_view bytes, std::vector<float>& out) {
  switch (layout.coding) {
    case WavLayout::Coding::kPcm:
      return ConvertPcm(layout.sample_bytes, bytes, out);
    case WavLayout::Coding::kMuLaw:
      return ConvertByTable(MuLaw, bytes, out);
    case WavLayout::Coding::kALaw:
      return ConvertByTable(ALaw, bytes, out);
    case WavLayout::Coding::kFloat:
      break;
  }
  if (layout.sample_bytes == 4) return ForEach(bytes, 4, out, Load<float>);
  ForEach(bytes, 8, out, [](const char* p) { return static_cast<float>(Load<double>(p)); });
}

}  // namespace tern::data
