#include "data/audio/audio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "data/audio/features.h"

namespace tern::data {
namespace {

Audio Ramp(int channels, size_t frames) {
  Audio audio{16000, channels, {}};
  for (size_t i = 0; i < frames * static_cast<size_t>(channels); ++i)
    audio.samples.push_back(static_cast<float>(static_cast<int>(i % 64) - 32) / 64);
  return audio;
}

TEST(Wav, RoundTrip) {
  for (const WavFormat format : {WavFormat::kPcm16, WavFormat::kPcm24, WavFormat::kFloat32})
    for (const int channels : {1, 2, 3}) {
      const Audio audio = Ramp(channels, 7);
      const auto bytes = EncodeWav(audio, format);
      ASSERT_TRUE(bytes.ok());
      EXPECT_EQ(bytes->size() % 2, 0u);
      const auto back = DecodeAudio(*bytes);
      ASSERT_TRUE(back.ok()) << back.status().ToString();
      EXPECT_EQ(back->samples, audio.samples);
      EXPECT_EQ(back->channels, channels);
      EXPECT_EQ(back->sample_rate, 16000);
    }
}

TEST(Wav, ClipsAtFullScale) {
  const Audio loud{8000, 1, {2.0f, -2.0f, std::numeric_limits<float>::quiet_NaN()}};
  const auto back = DecodeAudio(*EncodeWav(loud, WavFormat::kPcm16));
  EXPECT_EQ(back->samples, (std::vector<float>{32767.0f / 32768, -1.0f, 0.0f}));
}

TEST(Wav, RefusesWhatCannotBeStored) {
  EXPECT_NE(EncodeWav({16000, 0, {}}).status().message().find("got 0 channels"), std::string::npos);
  EXPECT_NE(EncodeWav({16000, 2, {1}}).status().message().find("1 samples are not a multiple of 2"),
            std::string::npos);
}

TEST(Wav, EveryPrefixIsReadOrRefused) {
  const std::string bytes = *EncodeWav(Ramp(2, 100), WavFormat::kPcm24);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const auto audio = DecodeAudio(std::string_view(bytes).substr(0, size));
    if (audio.ok())
      EXPECT_LE(audio->frames(), 100u);
    else
      EXPECT_NE(audio.status().code(), Code::kInternal);
  }
}

TEST(Wav, LimitsTheNumberOfSamples) {
  const auto audio = DecodeAudio(*EncodeWav(Ramp(2, 100)), 199);
  EXPECT_EQ(audio.status().message(), "the WAV file has 200 samples, but the limit is 199");
}

TEST(Audio, MonoIsTheMean) {
  const Audio mono = Mono({16000, 2, {0.5f, 0.25f, -1.0f, 1.0f}});
  EXPECT_EQ(mono.channels, 1);
  EXPECT_EQ(mono.samples, (std::vector<float>{0.375f, 0.0f}));
}

TEST(Audio, MissingFile) { EXPECT_FALSE(ReadAudio("no/such.wav").ok()); }

TEST(Resample, KeepsASine) {
  Audio audio{8000, 1, {}};
  const auto sine = [](double t) { return std::sin(2 * std::numbers::pi * 440 * t); };
  for (int i = 0; i < 8000; ++i) audio.samples.push_back(static_cast<float>(sine(i / 8000.0)));
  const auto out = Resample(audio, 11025);
  ASSERT_TRUE(out.ok());
  ASSERT_EQ(out->frames(), 11025u);
  for (size_t i = 1000; i < 10000; ++i)
    ASSERT_NEAR(static_cast<double>(out->samples[i]), sine(static_cast<double>(i) / 11025), 1e-5);
}

TEST(Resample, LimitsTheResult) {
  Audio audio{1, 1, std::vector<float>(size_t{1} << 23)};
  EXPECT_NE(Resample(audio, 256).status().message().find("gives more than 1073741824 samples"),
            std::string::npos);
}

TEST(Resample, LimitsTheRatio) {
  EXPECT_TRUE(Resample({1, 1, {0, 0}}, 256).ok());
  EXPECT_FALSE(Resample({1, 1, {0, 0}}, 257).ok());
  EXPECT_FALSE(Resample({511, 1, {0, 0}}, 1).ok());
}

TEST(Stft, InverseRestoresTheSignal) {
  const Audio audio = Ramp(1, 2000);
  const StftOptions options{256, 64};
  const auto spectrum = Stft(audio.samples, options);
  ASSERT_TRUE(spectrum.ok());
  EXPECT_EQ(spectrum->dims(), (Dims{129, 32, 2}));
  const auto back = Istft(*spectrum, options, 1984);
  ASSERT_TRUE(back.ok());
  for (int64_t i = 0; i < 1984; ++i)
    ASSERT_NEAR(back->data<float>()[i], audio.samples[static_cast<size_t>(i)], 1e-6f);
}

TEST(LogMel, WhisperOfSilence) {
  const std::vector<float> silence(16000);
  const auto mel = LogMel(silence, LogMelOptions::Whisper());
  ASSERT_TRUE(mel.ok());
  EXPECT_EQ(mel->dims(), (Dims{80, 100}));
  for (int64_t i = 0; i < mel->size(); ++i) ASSERT_EQ(mel->data<float>()[i], -1.5f);
}

TEST(Signal, PadOrTrim) {
  const std::vector<float> x = {1, 2, 3};
  EXPECT_EQ(PadOrTrim(x, 2), (std::vector<float>{1, 2}));
  EXPECT_EQ(PadOrTrim(x, 5), (std::vector<float>{1, 2, 3, 0, 0}));
}

}  // namespace
}  // namespace tern::data
