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
    std::string symbol;  // of an open dim: its name, or an expression over names such as "2*N"; empty: none
  };

  // A handle to one of a predictor's inputs or outputs, whatever its kind. Cheap to copy; lives as long as
  // wanted, keeps the predictor's memory alive. A handle for a name that does not exist says so in status()
  // and in everything that returns a Status. status() also says why the last CopyTo or ToVector failed.
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

    // What the model declares, whatever is held now. Thread-safe.
    std::string declared_type() const;               // "f32[N,3]", "seq(map(string,f32[]))"
    int declared_rank() const;                       // -1: unknown, or no tensor
    std::vector<DeclaredDim> declared_dims() const;  // as many as declared_rank()

    // What it holds now, of any kind: the way to read sequences, maps and optionals. A copy, which stays
    // valid; empty where there is nothing yet. Of an overridable constant that is not fed: its stored value.
    Value value() const;
    // Inputs: feeds a value of any kind. Shares the value's data, copies nothing: raw() of the input is then
    // null, read it by value(). Run checks it against the model.
    Status Set(const Value& value);
    // Inputs: forgets what was fed; an overridable constant has its stored value again. Outputs: results go
    // to the predictor's own memory again.
    Status Reset();
    // Outputs: from the next Run on, results are written to the caller's memory, which must not overlap that
    // of other inputs and outputs and must live until Reset, another Bind, or the last Run. `shape` must be
    // the shape of the result: Run fails where it is not. `data` must be aligned to an element. A result that
    // the plan cannot write there (a constant, an input that is handed on, a size that depends on data) is
    // copied there at the end of Run. Not for strings.
    Status Bind(void* data, size_t bytes, const Shape& shape);

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
    // Copies the elements, row by row. T is the element type, or one that holds each of its values exactly
    // (f32 as double, f16 as float, i8 as int32_t): those are converted. Everything else is kInvalidArgument,
    // and so is a tensor without elements yet (not fed, not run); `out` then stays as it is.
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
    // The same as a new vector. It is empty where CopyTo fails; status() of this tensor then says why, until
    // it is read with success.
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
    Status CheckRead(DType as) const;  // whether elements are there that `as` holds exactly
    void Read(void* out, DType as) const;
    template <class F> Status Change(F&& body);
    std::shared_ptr<Impl> impl_;
  };

  // What to load and how to run it.
  class Config {
   public:
    Config();
    // A model file or folder; its contents say of which format it is. Weights of a .tern file, and external
    // data of an ONNX model, are used where they lie in the file, for as long as a predictor or a clone of it
    // lives: replace a model by writing another file and renaming it, as `tern convert` does. Writing into
    // the file may change results, cutting it short ends the process (SIGBUS).
    explicit Config(std::string model_path);
    Config(const Config&);  // a move copies
    Config& operator=(const Config&);
    ~Config();

    Config& model_path(std::string path);
    // A model in memory, in place of a file: one of the two, never both. The bytes must live until Create
    // returns (.onnx), or as long as the predictor and its clones (.tern, whose weights are used in place;
    // align it to 64 bytes).
    Config& model_buffer(const void* data, size_t size);
    Config& threads(int count);  // at most 1024, of which at most one per usable core works; 0: one per core
    Config& plan_cache(int count);       // input shapes remembered at once; at least 1
    Config& memory_limit(size_t bytes);  // for intermediate values; 0: none
    // For what one Loop or Scan gathers, an element an iteration: such a loop need not end by itself. 0: 4
    // GiB, or a quarter of the machine's memory where that is less.
    Config& collect_limit(size_t bytes);
    // Another batch size for a model that was exported with a fixed one: dim 0 of its inputs. 0 (the
    // default): as the model has it. Create fails and names the node where the graph does not permit it.
    Config& batch(int64_t size);
    // How far the graph is optimized at load: "none", "basic", "extended" or "layout" (the default).
    Config& optimize(std::string level);
    // "fp32" (the default): as the model says. "bf16": products with constant weights and those of attention
    // round their operands to bf16 and add them up in f32; about twice as fast where the processor has
    // instructions for it. "auto": bf16 there, fp32 elsewhere. "bf16" is refused with reference(true), which
    // "auto" leaves at fp32.
    Config& precision(std::string name);
    // Milliseconds for measuring, while plans are made, which kernels are the fastest for the model's layers
    // on this machine; 0 (the default): they are chosen by estimates. At most 600000; shared by all clones.
    // Different kernels round differently: results may then differ in the last digits from machine to machine
    // and from load to load. What was measured is kept on disk and not measured again; where that fails,
    // Predictor::warnings() says why. Not with reference(true).
    Config& tune_ms(int64_t milliseconds);
    // Where measurements are kept. Not called: $TERN_CACHE_DIR, $XDG_CACHE_HOME/tern or ~/.cache/tern. "":
    // they are not. A folder that is given is read even when tune_ms is 0, and refused with reference(true).
    // With tune_ms it is made where it is missing; without, Predictor::warnings() says that it is.
    Config& cache_dir(std::string folder);
    Config& reference(bool on);  // the slow, obvious evaluator

    const std::string& model_path() const;
    int threads() const;
    bool reference() const;

   private:
    friend class Predictor;
    struct Impl;
    std::unique_ptr<Impl> impl_;
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
    // A point in time; the earlier of this and timeout counts.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::string tag;  // names the run in the message where it fails: a request's id, for instance
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
    // Constants that may be fed by name in place of their stored values: initializers of an ONNX model that
    // its graph also lists as inputs. Input(name) gives a handle for each; Reset() restores the stored value.
    // A set of fed names that is new costs an optimization of the model, which is kept for all clones.
    const std::vector<std::string>& OverridableNames() const;
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
