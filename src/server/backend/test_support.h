// Helpers for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <filesystem>

#include "server/core/backend.h"

namespace tern::server {
namespace {  // other folders have helpers of the same names

template <class T>
WireTensor Wire(const std::string& name, DType dtype, Dims dims, const std::vector<T>& values) {
  Buffer bytes = Buffer::Allocate(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, dtype, std::move(dims), std::move(bytes)};
}

template <class T> std::vector<T> ValuesOf(const WireTensor& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), out.size() * sizeof(T));
  return out;
}

inline WireTensor Texts(const std::string& name, Dims dims, const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    const auto size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), 4).append(text);
  }
  return Wire(name, DType::kString, std::move(dims), std::vector<char>(bytes.begin(), bytes.end()));
}

inline TensorConfig Tensor4(const std::string& name, DType dtype, Dims dims) {
  TensorConfig out;
  out.name = name;
  out.dtype = dtype;
  out.dims = std::move(dims);
  return out;
}

// Collects the responses to one request.
class TestCall : public Call {
 public:
  std::vector<Response> Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool done = changed_.wait_for(lock, std::chrono::seconds(10), [&] { return done_; });
    EXPECT_TRUE(done) << "no final response";
    return responses_;
  }

 private:
  void OnResponse(Response response) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ |= response.final;
    responses_.push_back(std::move(response));
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::vector<Response> responses_;
};

}  // namespace
}  // namespace tern::server
