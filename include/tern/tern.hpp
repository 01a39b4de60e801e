// Tern's C++ API: load a model, feed it, run it, read the results.
//
//   tern::Config config("model.onnx");
//   config.threads(2);
//   auto predictor = tern::Predictor::Create(config);
//   if (!predictor.ok()) return Fail(predictor.status().message());
//   tern::Status fed = predictor->Input("image").CopyFrom(pixels, {1, 3, 224, 224});
//   if (tern::Status ran = predictor->Run(); !ran.ok()) return Fail(ran.message());
//   const float* scores = predictor->Output("scores").data<float>();
//
// Nothing throws; every failure is a Status. A Predictor and its tensors belong to one thread at a time:
// feeding or running it while another thread does so fails with a Status, reading it then is undefined.
// Clones share the weights and may run at the same time. Link with Tern::tern (CMake) or `pkg-config --libs
// tern`.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The library itself names the types of this header tern::v1::…, because it has its own of the same names.
#if defined(TERN_BUILDING_API)
#define TERN_API_NAMESPACE namespace v1
#else
#define TERN_API_NAMESPACE inline namespace v1
#endif

namespace tern {
TERN_API_NAMESPACE {
  const char* Version();  // "0.1.0"

  enum class Code : uint8_t {
    kOk,
    kInvalidArgument,  // the caller's mistake: wrong name, shape, option
    kInvalidModel,     // the file is broken or contradicts itself
    kUnsupported,      // a fair request that Tern cannot serve
    kNotFound,
    kIo,
    kResourceExhausted,
    kInternal,   // a bug in Tern
    kCancelled,  // the caller ended the run, or its time was up
  };

  class [[nodiscard]] Status {
   public:
    Status() = default;
    Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
    bool ok() const { return code_ == Code::kOk; }
    Code code() const { return code_; }
    // What went wrong, with names and numbers, and what was being done.
    const std::string& message() const { return message_; }

   private:
    Code code_ = Code::kOk;
    std::string message_;
  };

  // A value, or the reason why there is none. Ask ok() before reaching for the value.
  template <class T> class [[nodiscard]] Result {
   public:
    Result(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: implicit on purpose
    Result(Status status) : status_(std::move(status)) {}               // NOLINT
    bool ok() const { return value_ != nullptr; }
    const Status& status() const { return status_; }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }

   private:
    std::unique_ptr<T> value_;
    Status status_;
  };

  // The types of elements. f16, bf16, the fp8s and smaller types are handled by their bits.
  enum class DType : uint8_t {
    kInvalid = 0,
    kF32,
    kF64,
    kF16,
    kBF16,
    kF8E4M3FN,
    kF8E4M3FNUZ,
    kF8E5M2,
    kF8E5M2FNUZ,
    kF8E8M0,
    kF4E2M1,
    kI8,
    kI16,
    kI32,
    kI64,
    kU8,
    kU16,
    kU32,
    kU64,
    kI4,
    kU4,
    kI2,
    kU2,
    kBool,
    kString,
    kC64,
    kC128,
  };
  const char* Name(DType dtype);  // "f32"

  // The C++ type that holds an element; other types have none and are reached through raw().
  template <class T> inline constexpr DType kTypeOf = DType::kInvalid;
  template <> inline constexpr DType kTypeOf<float> = DType::kF32;
  template <> inline constexpr DType kTypeOf<double> = DType::kF64;
  template <> inline constexpr DType kTypeOf<int8_t> = DType::kI8;
  template <> inline constexpr DType kTypeOf<int16_t> = DType::kI16;
  template <> inline constexpr DType kTypeOf<int32_t> = DType::kI32;
  template <> inline constexpr DType kTypeOf<int64_t> = DType::kI64;
  template <> inline constexpr DType kTypeOf<uint8_t> = DType::kU8;
  template <> inline constexpr DType kTypeOf<uint16_t> = DType::kU16;
  template <> inline constexpr DType kTypeOf<uint32_t> = DType::kU32;
  template <> inline constexpr DType kTypeOf<uint64_t> = DType::kU64;
  template <> inline constexpr DType kTypeOf<bool> = DType::kBool;
  template <> inline constexpr DType kTypeOf<std::string> = DType::kString;

  using Shape = std::vector<int64_t>;

  // A handle to one of a predictor's inputs or outputs. Cheap to copy; lives as long as wanted, keeps the
  // predictor's memory alive. A handle for a name that does not exist says so in status() and in everything
  // that returns a Status.
  class Predictor;
  class Tensor {
   public:
    Tensor(const Tensor&) = default;  // a move copies: no handle is ever without what it stands for
    Tensor& operator=(const Tensor&) = default;
    const Status& status() const;
    const std::string& name() const;
    DType dtype() const;
    // What it holds now. Of an input that was not fed yet: its declared dims, -1 where they are open.
    Shape shape() const;
    size_t size() const;   // elements; 0 while a dim is open
    size_t bytes() const;  // sub-byte types are packed, low bits first

    // Inputs: memory for these dims; the contents are zero, and kept when the dims stay the same. No check
    // against the model yet: Run makes it.
    Status Reshape(const Shape& shape);
    // Inputs: dims and elements at once, or elements for the dims it has. T must be the element type.
    template <class T> Status CopyFrom(const T* data, size_t count) {
      return Copy(data, count, kTypeOf<T>, nullptr);
    }
    template <class T> Status CopyFrom(const std::vector<T>& data) {
      return CopyFrom(data.data(), data.size());
    }
    template <class T> Status CopyFrom(const std::vector<T>& data, const Shape& shape) {
      return Copy(data.data(), data.size(), kTypeOf<T>, &shape);
    }
    // std::vector<bool> has no array to copy from: by way of one.
    Status CopyFrom(const std::vector<bool>& data) { return CopyBits(data, nullptr); }
    Status CopyFrom(const std::vector<bool>& data, const Shape& shape) { return CopyBits(data, &shape); }
    // Inputs, without a copy: `data` must stay as it is until the last Run that reads it. Not for strings.
    Status Share(void* data, size_t bytes, const Shape& shape);

    // The elements, row by row; null when T is not the element type, or there are none yet. Of an output:
    // valid until the next Run. Writable for inputs that own their memory.
    template <class T> T* data() { return kTypeOf<T> == dtype() ? static_cast<T*>(raw()) : nullptr; }
    template <class T> const T* data() const {
      return kTypeOf<T> == dtype() ? static_cast<const T*>(raw()) : nullptr;
    }
    void* raw();
    const void* raw() const;
    template <class T> std::vector<T> ToVector() const {
      const T* from = data<T>();
      return from ? std::vector<T>(from, from + size()) : std::vector<T>();
    }

   private:
    friend class Predictor;
    struct Impl;
    explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    Status Copy(const void* data, size_t count, DType type, const Shape* shape);
    Status CopyBits(const std::vector<bool>& data, const Shape* shape);
    template <class F> Status Change(F&& body);
    std::shared_ptr<Impl> impl_;
  };

  // What to load and how to run it.
  class Config {
   public:
    Config() = default;
    // An .onnx or .tern file; its first bytes say which. Weights of a .tern file, and external data of an
    // ONNX model, are used where they lie in the file, for as long as a predictor or a clone of it lives:
    // replace a model by writing another file and renaming it, as `tern convert` does. Writing into the file
    // may change results, cutting it short ends the process (SIGBUS).
    explicit Config(std::string model_path) : model_path_(std::move(model_path)) {}

    Config& model_path(std::string path) {
      model_path_ = std::move(path);
      return *this;
    }
    // A model in memory, in place of a file: one of the two, never both. The bytes must live until Create
    // returns (.onnx), or as long as the predictor and its clones (.tern, whose weights are used in place;
    // align it to 64 bytes).
    Config& model_buffer(const void* data, size_t size) {
      buffer_ = data;
      buffer_size_ = size;
      return *this;
    }
    Config& threads(int count) {
      threads_ = count;
      return *this;
    }  // at most 1024, of which at most one per usable core works; 0: one per core
    Config& plan_cache(int count) {
      plan_cache_ = count;
      return *this;
    }  // input shapes remembered at once
    Config& memory_limit(size_t bytes) {
      memory_limit_ = bytes;
      return *this;
    }  // for intermediate values; 0: none
    // For what one Loop or Scan gathers, an element an iteration: such a loop need not end by itself.
    Config& collect_limit(size_t bytes) {
      collect_limit_ = bytes;
      return *this;
    }  // 0: 4 GiB, or a quarter of the machine's memory where that is less
    // How far the graph is optimized at load: "none", "basic", "extended" or "layout" (the default).
    Config& optimize(std::string level) {
      optimize_ = std::move(level);
      return *this;
    }
    // "fp32" (the default): as the model says. "bf16": products with constant weights and those of attention
    // round their operands to bf16 and add them up in f32; about twice as fast where the processor has
    // instructions for it. "auto": bf16 there, fp32 elsewhere. "bf16" is refused with reference(true), which
    // "auto" leaves at fp32.
    Config& precision(std::string name) {
      precision_ = std::move(name);
      return *this;
    }
    // Milliseconds for measuring, while plans are made, which kernels are the fastest for the model's layers
    // on this machine; 0 (the default): they are chosen by estimates. At most 600000; shared by all clones.
    // Different kernels round differently: results may then differ in the last digits from machine to machine
    // and from load to load. What was measured is kept on disk and not measured again; where that fails,
    // Predictor::warnings() says why. Not with reference(true).
    Config& tune_ms(int64_t milliseconds) {
      tune_ms_ = milliseconds;
      return *this;
    }
    // Where measurements are kept. Not called: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern or ~/.cache/tern. "":
    // they are not. A folder that is given is read even when tune_ms is 0, and refused with reference(true).
    // With tune_ms it is made where it is missing; without, Predictor::warnings() says that it is.
    Config& cache_dir(std::string folder) {
      cache_dir_ = std::move(folder);
      has_cache_dir_ = true;
      return *this;
    }
    Config& reference(bool on) {
      reference_ = on;
      return *this;
    }  // the slow, obvious evaluator

    const std::string& model_path() const { return model_path_; }
    int threads() const { return threads_; }
    bool reference() const { return reference_; }

   private:
    friend class Predictor;
    std::string model_path_, optimize_ = "layout", precision_ = "fp32";
    const void* buffer_ = nullptr;
    size_t buffer_size_ = 0, memory_limit_ = 0, collect_limit_ = 0;
    std::string cache_dir_;
    int64_t tune_ms_ = 0;
    int threads_ = 0, plan_cache_ = 8;
    bool reference_ = false, has_cache_dir_ = false;
  };

  // How one run may be ended before its time, with kCancelled: a model may hold a loop that never ends. Asked
  // between the steps of a run, while it waits for a clone that makes its plan or packs weights that it
  // needs, and between single measurements (tune_ms); a step that computes is finished. So is a plan: the
  // first run with new shapes makes one, and the very first packs the model's weights, which may take longer
  // than a run. Run once without a limit before deadlines matter. The predictor stays usable, its outputs are
  // those of no run.
  struct RunOptions {
    const std::atomic<bool>* cancel = nullptr;  // any thread sets it; must live until Run returns
    std::chrono::nanoseconds timeout{0};        // from the call on; 0: none
  };

  class Predictor {
   public:
    static Result<Predictor> Create(const Config& config);
    // One that was moved from says so in everything that returns a Status, Result or Tensor; it has no names
    // and no warnings. It may be assigned to again.
    Predictor(Predictor&&) noexcept;
    Predictor& operator=(Predictor&&) noexcept;
    ~Predictor();
    // Another one on the same weights, for another thread. Its inputs are not fed yet.
    Result<Predictor> Clone() const;

    const std::vector<std::string>& InputNames() const;
    const std::vector<std::string>& OutputNames() const;
    Tensor Input(const std::string& name);
    Tensor Input(size_t index);
    Tensor Output(const std::string& name);
    Tensor Output(size_t index);

    // Checks the inputs, plans when their shapes are new, runs. With the shapes of an earlier run no memory
    // is allocated.
    Status Run();
    Status Run(const RunOptions& options);

    // What is worth knowing though nothing failed, a sentence each: what the import of a model ignores,
    // measurements of kernels that could not be kept or read, ops that run by the slow evaluator because they
    // have no kernel. Kernels are chosen when Run meets new shapes: ask after the first one, and not
    // while Run is under way in another thread.
    std::vector<std::string> warnings() const;

   private:
    struct State;
    explicit Predictor(std::shared_ptr<State> state);
    Tensor Missing(const std::string& what, const std::vector<std::string>& names) const;
    std::shared_ptr<State> state_;
    friend class Tensor;
  };

}  // TERN_API_NAMESPACE
}  // namespace tern
