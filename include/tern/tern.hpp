// Tern's C++ API: load a model, feed it, run it, read the results.
//
//   tern::Config config("model.onnx");
//   config.threads(2);
//   auto predictor = tern::Predictor::Create(config);
//   if (!predictor.ok()) return Fail(predictor.status().message());
//   tern::Status fed = predictor->Input("image").CopyFrom(pixels, {1, 3, 224, 224});
//   if (tern::Status ran = predictor->Run(); !ran.ok()) return Fail(ran.message());
//   const float* scores = predictor->Output("scores").data<float>();
// Nothing throws; every failure is a Status. A Predictor and its tensors may be used by one thread at a time:
// feeding or running it while another thread does so fails with a Status; reading it meanwhile is undefined.
// Clones share the weights and may run at the same time. Link with Tern::tern (CMake) or `pkg-config --libs
// tern`.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/types.hpp"
#include "tern/value.hpp"

namespace tern {
TERN_API_NAMESPACE {
  // A dim as the model declares it.
  struct DeclaredDim {
    int64_t value = -1;  // -1: open
    std::string symbol;  // of an open dim: its name, or an expression such as "2*N"; empty: unnamed
  };

  // A handle to one of a predictor's inputs or outputs, of any kind. Cheap to copy. It may outlive the
  // predictor and keeps its memory alive. If the name does not exist, status() and every function that
  // returns a Status report it. status() also holds the error of the last failed CopyTo or ToVector.
  class Predictor;
  class Tensor {
   public:
    Tensor(const Tensor&) = default;  // a move copies, so that a handle is never empty
    Tensor& operator=(const Tensor&) = default;
    const Status& status() const;
    const std::string& name() const;
    DType dtype() const;
    // Returns the current shape. For an input that was not fed yet, returns the declared dims, with -1 for
    // open ones.
    Shape shape() const;
    size_t size() const;   // elements; 0 while a dim is open
    size_t bytes() const;  // sub-byte types are packed, low bits first

    // What the model declares, independent of the current value. Thread-safe.
    std::string declared_type() const;               // "f32[N,3]", "seq(map(string,f32[]))"
    int declared_rank() const;                       // -1: unknown, or not a tensor
    std::vector<DeclaredDim> declared_dims() const;  // as many as declared_rank()

    // Returns a copy of the current value, of any kind. Use it to read sequences, maps and optionals. The
    // copy is empty if there is no value yet. For an overridable constant that is not fed, returns its stored
    // value.
    Value value() const;
    // Inputs: feeds a value of any kind, without a copy. raw() of the input is then null; value() reads it.
    // Run checks the value against the model.
    Status Set(const Value& value);
    // Inputs: drops the fed value; an overridable constant gets its stored value back. Outputs: undoes Bind;
    // results are written to the predictor's memory again.
    Status Reset();
    // Outputs: from the next Run on, results are written to the caller's memory. It must not overlap other
    // inputs and outputs, and must live until Reset, another Bind, or the last Run. Run fails if the result's
    // shape is not `shape`. `data` must be aligned to an element. A result that the plan cannot write in
    // place (a constant, a forwarded input, a size that depends on data) is copied there at the end of Run.
    // Not for strings.
    Status Bind(void* data, size_t bytes, const Shape& shape);

    // Inputs: allocates zeroed memory for these dims; keeps the contents if the dims do not change. Run, not
    // Reshape, checks the dims against the model.
    Status Reshape(const Shape& shape);
    // Inputs: sets dims and elements, or elements for the current dims. T must be the element type.
    template <class T> Status CopyFrom(const T* data, size_t count) {
      return Copy(data, count, kTypeOf<T>, nullptr);
    }
    template <class T> Status CopyFrom(const std::vector<T>& data) {
      return CopyFrom(data.data(), data.size());
    }
    template <class T> Status CopyFrom(const std::vector<T>& data, const Shape& shape) {
      return Copy(data.data(), data.size(), kTypeOf<T>, &shape);
    }
    // std::vector<bool> has no array of bool: these overloads build one.
    Status CopyFrom(const std::vector<bool>& data) { return CopyBits(data, nullptr); }
    Status CopyFrom(const std::vector<bool>& data, const Shape& shape) { return CopyBits(data, &shape); }
    // Inputs: reads the caller's memory without a copy. `data` must stay valid and unchanged until the last
    // Run that reads it. Not for strings.
    Status Share(void* data, size_t bytes, const Shape& shape);

    // Returns the elements in row-major order, or null if T is not the element type or there are no elements
    // yet. The pointer to an output is valid until the next Run. Only inputs that own their memory are
    // writable.
    template <class T> T* data() { return kTypeOf<T> == dtype() ? static_cast<T*>(raw()) : nullptr; }
    template <class T> const T* data() const {
      return kTypeOf<T> == dtype() ? static_cast<const T*>(raw()) : nullptr;
    }
    void* raw();
    const void* raw() const;
    // Copies the elements in row-major order. T is the element type, or a type that represents each of its
    // values exactly (f32 as double, f16 as float, i8 as int32_t): then elements are converted. Fails with
    // kInvalidArgument for any other T, and for a tensor without elements yet (not fed, not run); `out` is
    // then unchanged.
    template <class T> Status CopyTo(std::vector<T>& out) const {
      if (Status status = CheckRead(kTypeOf<T>); !status.ok()) return status;
      if (const T* from = data<T>()) {
        out.assign(from, from + size());
      } else if constexpr (std::is_same_v<T, bool>) {
        return value().CopyTo(out);
      } else {
        out.resize(size());
        Read(out.data(), kTypeOf<T>);
      }
      return {};
    }
    // CopyTo into a new vector. Empty if CopyTo fails; status() of this tensor then holds the error until a
    // read succeeds.
    template <class T> std::vector<T> ToVector() const {
      std::vector<T> out;
      return CopyTo(out).ok() ? out : std::vector<T>();
    }

   private:
    friend class Predictor;
    struct Impl;
    explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    Status Copy(const void* data, size_t count, DType type, const Shape* shape);
    Status CopyBits(const std::vector<bool>& data, const Shape* shape);
    Status CheckRead(DType as) const;  // fails if there are no elements or `as` cannot represent them
    void Read(void* out, DType as) const;
    template <class F> Status Change(F&& body);
    std::shared_ptr<Impl> impl_;
  };

  // What to load and how to run it.
  class Config {
   public:
    Config();
    // A model file or folder; its format is detected from the contents. Weights of a .tern file and external
    // data of an ONNX model are memory-mapped as long as a predictor or a clone of it lives. To replace a
    // model, write another file and rename it, as `tern convert` does: writing into a mapped file may change
    // results, and truncating it ends the process (SIGBUS).
    explicit Config(std::string model_path);
    Config(const Config&);  // a move copies
    Config& operator=(const Config&);
    ~Config();

    Config& model_path(std::string path);
    // A model in memory. Exactly one of model_path and model_buffer must be set. The bytes of an .onnx model
    // must live until Create returns; those of a .tern model as long as the predictor and its clones, because
    // weights are used in place (align it to 64 bytes).
    Config& model_buffer(const void* data, size_t size);
    Config& threads(int count);  // at most 1024; at most one per usable core runs at a time; 0: one per core
    Config& plan_cache(int count);  // number of input shapes whose plans are cached; at least 1
    // Limits the memory of intermediate values, in bytes. A Run that needs more fails with
    // kResourceExhausted. Weights, inputs and outputs do not count. 0 (the default): the machine's memory.
    Config& memory_limit(size_t bytes);
    // Limits the memory of the outputs that one Loop or Scan collects over its iterations, because a loop may
    // never end by itself. 0: 4 GiB, or a quarter of the machine's memory if that is less.
    Config& collect_limit(size_t bytes);
    // Overrides the batch size (dim 0 of the inputs) of a model that was exported with a fixed one. 0 (the
    // default) keeps the model's. If the graph does not permit the change, Create fails and names the node.
    Config& batch(int64_t size);
    // How far the graph is optimized at load: "none", "basic", "extended" or "layout" (the default).
    Config& optimize(std::string level);
    // "fp32" (the default): as the model specifies. "bf16": matrix products and convolutions with constant
    // weights, and attention, round their operands to bf16 and accumulate in f32; about twice as fast where
    // the processor has bf16 instructions. "auto": bf16 on such processors, fp32 elsewhere. With
    // reference(true), Create fails for "bf16", and "auto" means fp32.
    Config& precision(std::string name);
    // The time budget in milliseconds for measuring, during planning, which kernels are the fastest on this
    // machine. 0 (the default): kernels are chosen by estimates. At most 600000; shared by all clones.
    // Kernels round differently, so results may differ in the last digits between machines and between loads.
    // Measurements are stored on disk and reused; if that fails, Predictor::warnings() reports why. Not with
    // reference(true).
    Config& tune_ms(int64_t milliseconds);
    // The folder for measurements. Default: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern or ~/.cache/tern. "":
    // measurements are not stored. An explicit folder is read even when tune_ms is 0. A missing folder is
    // created if tune_ms is set; otherwise Predictor::warnings() reports it. With a folder and
    // reference(true), Create fails.
    Config& cache_dir(std::string folder);
    Config& reference(bool on);  // runs the slow reference evaluator
    // Selects the states: pairs of an input and an output whose values the predictor keeps between runs, such
    // as the past keys and values of a decoder. "auto": pairs found by the names that common exporters use,
    // such as past_key_values.0.key and present.0.key. "past=present,past=present": these pairs. "none": no
    // states. Not called: the states that the model declares; ONNX models declare none. Create fails if a
    // name does not exist or if the types of a pair differ in more than one growing axis.
    Config& states(std::string pairs);

    const std::string& model_path() const;
    int threads() const;
    bool reference() const;

   private:
    friend class Predictor;
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

  // Conditions that end one run early with kCancelled, for example in a model with an endless loop. They are
  // checked between the steps of a run, while the run waits for a clone that builds its plan or packs its
  // weights, and between measurements (tune_ms). A step or a plan that has begun is completed. The first run
  // with new shapes builds a plan, and the very first run packs the weights, which may take longer than a
  // run: run once without a limit before deadlines matter. After kCancelled the predictor stays usable; its
  // outputs are unspecified.
  struct RunOptions {
    const std::atomic<bool>* cancel = nullptr;  // any thread may set it; must live until Run returns
    std::chrono::nanoseconds timeout{0};        // measured from the call; 0: none
    // An absolute time limit; the earlier of this and timeout applies.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::string tag;  // included in error messages of this run, for example a request's id
  };

  // A pair of an input and an output whose value the predictor keeps between runs; see Config::states.
  struct StateInfo {
    std::string name;           // of the input; also names the state
    std::string output;         // name of the output
    std::string declared_type;  // of the input: "f32[batch,12,past,64]"
    int axis = -1;              // the growing axis; -1: fixed size
  };

  class Predictor {
   public:
    static Result<Predictor> Create(const Config& config);
    // A moved-from predictor returns an error from every function that returns a Status, Result or Tensor,
    // and has no names and no warnings. It may be assigned to again.
    Predictor(Predictor&&) noexcept;
    Predictor& operator=(Predictor&&) noexcept;
    ~Predictor();
    // Returns a new predictor that shares the weights, for use by another thread. Its inputs are not fed yet,
    // and its states are at their start.
    Result<Predictor> Clone() const;

    const std::vector<std::string>& InputNames() const;
    const std::vector<std::string>& OutputNames() const;
    // Constants that may be fed by name in place of their stored values: initializers of an ONNX model that
    // its graph also lists as inputs. Input(name) gives a handle for each; Reset() restores the stored value.
    // Each new set of fed names optimizes the model once more; all clones share the result.
    const std::vector<std::string>& OverridableNames() const;
    Tensor Input(const std::string& name);
    Tensor Input(size_t index);
    Tensor Output(const std::string& name);
    Tensor Output(size_t index);

    // Checks the inputs, builds a plan when their shapes are new, and runs. Allocates no memory when a plan
    // for the shapes is cached.
    Status Run();
    Status Run(const RunOptions& options);

    // States are not in InputNames and OutputNames: each run reads the value that the previous run wrote. A
    // growing state starts empty; a state of fixed size starts as zeros. A run that fails leaves the states
    // unchanged. The memory of a growing state doubles when it is full; other runs do not allocate.
    std::vector<StateInfo> States() const;
    // Returns the current length of the growing states, such as the number of tokens so far, or 0 if no state
    // grows.
    int64_t StateLength() const;
    // Resets all states to their start. The next run may have another batch size.
    Status ResetStates();
    // Returns a copy of the state's current value. Fails with kNotFound if there is no such state, or before
    // the first run.
    Result<Value> GetState(const std::string& name) const;
    // Sets the value that the next run reads; it is copied. A growing state accepts any length, but Run fails
    // if the lengths of growing states differ. To fork a conversation, set all states of a clone.
    Status SetState(const std::string& name, const Value& value);

    // Returns warnings, one sentence each: declarations that the import ignores, measurements that could not
    // be stored or read, ops without a kernel that run on the slow evaluator. Kernels are chosen when Run
    // sees new shapes: call this after the first Run, and not while another thread runs this predictor.
    std::vector<std::string> warnings() const;

   private:
    struct State;
    explicit Predictor(std::shared_ptr<State> state);
    Tensor Missing(const std::string& role, const std::string& name,
                   const std::vector<std::string>& names) const;
    std::shared_ptr<State> state_;
    friend class Tensor;
  };

}  // TERN_API_NAMESPACE
}  // namespace tern
