// Reads native FLAC streams with libFLAC.
#pragma once
#include <string_view>

#include "data/audio/audio.h"

namespace tern::data {

bool IsFlac(std::string_view bytes);
// Fails if a frame is damaged or missing, or if the stored MD5 sum differs from that of the samples.
Result<Audio> DecodeFlac(std::string_view bytes, size_t max_samples);

}  // namespace tern::data
