// Tern's C++ API: load a model, feed it, run it, read the results.
//
//   tern::Config config("model.onnx");
//   config.threads(2);
//   auto predictor = tern::Predictor::Create(config);
//   if (!predictor.ok()) return Fail(predictor.status().message());
//   tern::Status fed = predictor->Input("image").CopyFrom(pixels, {1, 3, 224, 224});
//   if (tern::Status ran = predictor->Run(); !ran.ok()) return Fail(ran.message());
//   const float* scores = predictor->Output("scores").data<float>();
// No function throws; failures are reported as a Status. One thread at a time may use a Predictor and its
// tensors. If a second thread feeds or runs the predictor at the same time, its call fails with a Status.
// Reading a tensor while another thread feeds or runs the predictor is undefined behaviour. Clones share the
// weights and may run at the same time. Link with Tern::tern (CMake) or `pkg-config --libs tern`.
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

#include "tern/profile.hpp"
#include "tern/types.hpp"
#include "tern/value.hpp"

namespace tern {
TERN_API_NAMESPACE {
  // A dim as the model declares it.
  struct DeclaredDim {
    int64_t value = -1;  // -1 if the size is open
    std::string symbol;  // name of an open dim, or an expression such as "2*N"; empty if the dim has no name
  };

  class Predictor;

  // A handle to an input or output of a predictor. The input or output may be a tensor, sequence, map or
  // optional. A handle is cheap to copy. A handle that outlives the predictor keeps the predictor's memory
  // alive. If the model has no input or output of the requested name, status() and every function that
  // returns a Status report this error. If the last CopyTo or ToVector failed, status() returns the error of
  // that call.
  class Tensor {
   public:
    Tensor(const Tensor&) = default;  // there is no move constructor, so a moved-from handle stays valid
    Tensor& operator=(const Tensor&) = default;
    const Status& status() const;
    const std::string& name() const;
    DType dtype() const;
    // Returns the current shape. Before an input is fed or an output is computed, returns the declared dims,
    // with -1 for open dims.
    Shape shape() const;
    size_t size() const;   // number of elements; 0 before the input is fed or the output is computed
    size_t bytes() const;  // elements of less than 8 bits are packed, the first one in the low bits

    // These functions return what the model declares. The result does not depend on the current value.
    // Thread-safe.
    std::string declared_type() const;  // "f32[N,3]", "seq(map(string,f32[]))"
    int declared_rank() const;          // -1 if the rank is unknown, or if the value is not a tensor
    std::vector<DeclaredDim> declared_dims() const;  // one per axis; empty if declared_rank() is -1

    // Returns a copy of the current value, of any kind. Use this function to read sequences, maps and
    // optionals. The copy is empty if there is no value yet. For an overridable constant that is not fed,
    // returns its stored value.
    Value value() const;
    // For an input: feeds a value of any kind, without a copy. Afterwards raw() returns null, and value()
    // returns the fed value. Run, not Set, checks the value against the declared type.
    Status Set(const Value& value);
    // For an input: removes the fed value. An overridable constant has its stored value again. For an output:
    // undoes Bind, so that later runs write the result to the predictor's memory.
    Status Reset();
    // For an output: each later Run writes the result to `data`, which is memory of the caller. This memory
    // must not overlap other inputs and outputs. It must stay valid until Reset or another Bind is called, or
    // until the last Run has returned. Run fails if the result's shape is not `shape`. `data` must be aligned
    // to the size of an element. Run computes some results elsewhere and copies them to `data` at its end.
    // These are constants, forwarded inputs, and results whose size depends on data. Fails for strings.
    Status Bind(void* data, size_t bytes, const Shape& shape);

    // For an input: allocates zeroed memory for these dims. If the predictor already owns memory of these
    // dims, the elements stay as they are. Run, not Reshape, checks the dims against the declared type.
    Status Reshape(const Shape& shape);
    // For an input: copies the elements from `data`. The overloads with `shape` also set the dims. The other
    // overloads use the dims of shape(), none of which may be open. T must be the element type.
    template <class T> Status CopyFrom(const T* data, size_t count) {
      return Copy(data, count, kTypeOf<T>, nullptr);
    }
    template <class T> Status CopyFrom(const std::vector<T>& data) {
      return CopyFrom(data.data(), data.size());
    }
    template <class T> Status CopyFrom(const std::vector<T>& data, const Shape& shape) {
      return Copy(data.data(), data.size(), kTypeOf<T>, &shape);
    }
    // std::vector<bool> stores bits instead of an array of bool, so these overloads convert it.
    Status CopyFrom(const std::vector<bool>& data) { return CopyBits(data, nullptr); }
    Status CopyFrom(const std::vector<bool>& data, const Shape& shape) { return CopyBits(data, &shape); }
    // For an input: each later Run reads `data`, which is memory of the caller, without a copy. `data` must
    // stay valid and unchanged until the end of the last Run that reads it. Fails for strings.
    Status Share(void* data, size_t bytes, const Shape& shape);

    // Returns the elements in row-major order, or null if T is not the element type or there are no elements
    // yet. The pointer to an output is valid until the next Run. The elements of an input may be changed
    // through the pointer if Reshape or CopyFrom allocated them.
    template <class T> T* data() { return kTypeOf<T> == dtype() ? static_cast<T*>(raw()) : nullptr; }
    template <class T> const T* data() const {
      return kTypeOf<T> == dtype() ? static_cast<const T*>(raw()) : nullptr;
    }
    void* raw();
    const void* raw() const;
    // Copies the elements in row-major order. T is the element type, or a type that represents every value of
    // the element type exactly. For example, double represents f32, float represents f16, and int32_t
    // represents i8. Fails with kInvalidArgument for any other T, for an input that was not fed, and for an
    // output that no run has computed. On failure `out` is unchanged.
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
    // Like CopyTo, but returns a new vector. If CopyTo fails, the vector is empty, and status() of this
    // tensor returns the error until a later read succeeds.
    template <class T> std::vector<T> ToVector() const {
      std::vector<T> out;
      return CopyTo(out).ok() ? out : std::vector<T>();
    }

   private:
    friend class Predictor;
    friend struct Access;  // for the library's other bindings
    struct Impl;
    explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
    Status Copy(const void* data, size_t count, DType type, const Shape* shape);
    Status CopyBits(const std::vector<bool>& data, const Shape* shape);
    Status CheckRead(DType as) const;  // fails if there are no elements or `as` cannot represent them
    void Read(void* out, DType as) const;
    template <class F> Status Change(F&& body);
    std::shared_ptr<Impl> impl_;
  };

  // The model to load, and the options for running it.
  class Config {
   public:
    Config();
    // model_path is a file or folder. Its format is detected from the contents. The weights of a .tern file,
    // and the external data of an ONNX or MindSpore model, stay memory-mapped until the predictor and all its
    // clones are destroyed. Do not write into a mapped file, because results may change, and truncating the
    // file ends the process with SIGBUS. To replace a model, write another file and rename it, as `tern
    // convert` does.
    explicit Config(std::string model_path);
    Config(const Config&);  // there is no move constructor; a move makes a copy
    Config& operator=(const Config&);
    ~Config();

    Config& model_path(std::string path);
    // A file with the weights, for formats that keep them in a file of their own, such as Caffe's. Create
    // fails if the format stores weights in the model file.
    Config& weights_path(std::string path);
    // Which signature to use, for formats with several, such as TensorFlow's SavedModel. The default is the
    // model's default signature. Create fails if the model has no such signature.
    Config& signature(std::string name);
    // The type of an input, such as "f32[N,3,224,224]", for formats that declare none, such as TorchScript.
    // Names in place of numbers are open dims. Other formats ignore it. Create fails if `type` is not the
    // type of a tensor with a rank, or if the model has no such input.
    Config& input_type(std::string name, std::string type);
    // A model in memory. Exactly one of model_path and model_buffer must be set. The bytes of a .tern model
    // must stay valid until the predictor and all its clones are destroyed, because weights are used in
    // place. They should be aligned to 64 bytes. The bytes of a model of another format must stay valid until
    // Create returns.
    Config& model_buffer(const void* data, size_t size);
    // The number of threads, at most 1024. 0 means one thread per core that the process may use. If `count`
    // is larger than the number of these cores, only as many threads as cores run at a time.
    Config& threads(int count);
    Config& plan_cache(int count);  // number of input shapes whose plans are cached; at least 1
    // Limits the memory of intermediate values, in bytes. A Run that needs more fails with
    // kResourceExhausted. Weights, inputs and outputs do not count. 0 (the default) means that the limit is
    // the machine's memory.
    Config& memory_limit(size_t bytes);
    // Limits the bytes of the outputs that one Loop or Scan collects over its iterations. Without this limit,
    // an endless loop would use all memory. 0 means 4 GiB or a quarter of the machine's memory, whichever is
    // less.
    Config& collect_limit(size_t bytes);
    // Overrides the batch size (dim 0 of the inputs) of a model that was exported with a fixed batch size. 0
    // (the default) keeps the model's batch size. If a node does not permit another batch size, Create fails
    // and names the node.
    Config& batch(int64_t size);
    // How far the graph is optimized at load: "none", "basic", "extended" or "layout" (the default).
    Config& optimize(std::string level);
    // "fp32" (the default) computes in the types that the model specifies. With "bf16", some ops round their
    // operands to bf16 and accumulate in f32. These ops are attention, and matrix products, convolutions and
    // recurrent layers with constant weights. They are about twice as fast on processors with bf16
    // instructions. "auto" means bf16 where that is measured to be faster, and fp32 elsewhere. "fast" is fp32
    // with algorithms whose errors may exceed 1e-6 of the results. With reference(true), Create fails for
    // "bf16", and the other names mean fp32.
    Config& precision(std::string name);
    // The time budget in milliseconds for measuring which kernels are the fastest on this machine. Kernels
    // are measured while plans are built. With 0 (the default), kernels are chosen by estimated times. The
    // budget is at most 600000 and is shared by all clones. Kernels round differently, so results may differ
    // in the last digits between machines and between loads. Measurements are stored on disk and reused. If
    // they cannot be stored or read, Predictor::warnings() reports the reason. If tune_ms is set and
    // reference(true) is called, Create fails.
    Config& tune_ms(int64_t milliseconds);
    // The folder for measurements. The default is $TERN_CACHE_DIR, else $XDG_CACHE_HOME/tern, else
    // ~/.cache/tern. If the folder is "", measurements are not stored. An explicit folder is read even if
    // tune_ms is 0. A missing folder is created if tune_ms is set; otherwise Predictor::warnings() reports
    // that the folder is missing. With a folder and reference(true), Create fails.
    Config& cache_dir(std::string folder);
    Config& reference(bool on);  // runs the slow reference evaluator
    // Selects the states. A state is a pair of an input and an output whose value the predictor keeps between
    // runs. An example is the past keys of a decoder. "auto" finds pairs by the names that common exporters
    // use, such as past_key_values.0.key and present.0.key. "past=present,past=present" lists the pairs by
    // their names. "none" means no states. If states() is not called, the predictor has the states that the
    // model declares; ONNX models declare none. Create fails if a name does not exist. It also fails if the
    // two types of a pair differ in more than the size of one axis, the growing axis.
    Config& states(std::string pairs);

    const std::string& model_path() const;
    int threads() const;
    bool reference() const;

   private:
    friend class Predictor;
    friend class Pipeline;   // tern/pipeline.hpp
    friend class Quantizer;  // tern/quantize.hpp
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

  // Conditions that end one run early with kCancelled, for example in a model with an endless loop. They are
  // checked between the steps of a run and between measurements (tune_ms). They are also checked while the
  // run waits for a clone that builds a plan or packs weights. A step that has begun runs to its end, and a
  // plan that is being built is completed. The first run with new shapes builds a plan, and the very first
  // run packs the weights. Building a plan and packing weights may take longer than the run itself. So call
  // Run once without a limit before you set limits. After kCancelled the predictor stays usable. Its outputs
  // have no value until a later run succeeds, and the contents of bound memory are unspecified.
  struct RunOptions {
    const std::atomic<bool>* cancel = nullptr;  // any thread may set the flag; it must live until Run returns
    std::chrono::nanoseconds timeout{0};        // measured from the call of Run; 0 means no limit
    // An absolute time limit. If timeout is also set, the earlier of the two limits applies.
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::string tag;  // included in error messages of this run, for example a request's id
  };

  // A pair of an input and an output whose value the predictor keeps between runs; see Config::states.
  struct StateInfo {
    std::string name;           // name of the input, and of the state
    std::string output;         // name of the output
    std::string declared_type;  // declared type of the input: "f32[batch,12,past,64]"
    int axis = -1;              // the growing axis; -1 means a fixed size
  };

  class Predictor {
   public:
    static Result<Predictor> Create(const Config& config);
    // After a move, the functions of the moved-from predictor that return a Status, Result or Tensor report
    // an error. Its lists of names and warnings are empty. Another predictor may be assigned to it.
    Predictor(Predictor&&) noexcept;
    Predictor& operator=(Predictor&&) noexcept;
    ~Predictor();
    // Returns a new predictor that shares the weights, for use by another thread. The inputs of the new
    // predictor are not fed, and its states are empty or zero, as after ResetStates.
    Result<Predictor> Clone() const;

    const std::vector<std::string>& InputNames() const;
    const std::vector<std::string>& OutputNames() const;
    // Returns the names of the constants that may be fed in place of their stored values. They are the
    // initializers of an ONNX model that its graph also lists as inputs. Input(name) returns a handle to such
    // a constant; its Reset() restores the stored value. When a new set of these names is fed, Run optimizes
    // the model again for that set. All clones share the optimized model.
    const std::vector<std::string>& OverridableNames() const;
    Tensor Input(const std::string& name);
    Tensor Input(size_t index);
    Tensor Output(const std::string& name);
    Tensor Output(size_t index);

    // Checks the inputs, builds a plan if none is cached for their shapes, and runs the plan. If a plan for
    // the shapes is cached, Run allocates no memory.
    Status Run();
    Status Run(const RunOptions& options);

    // The inputs and outputs of states are not in InputNames and OutputNames, because each run reads the
    // value that the previous run wrote. A growing state starts empty; a state of fixed size starts as zeros.
    // A run that fails leaves the states unchanged. When the memory of a growing state is full, the next run
    // allocates twice as much. Other runs do not allocate memory for states.
    std::vector<StateInfo> States() const;
    // Returns the current length of the growing states, such as the number of tokens so far, or 0 if no state
    // grows.
    int64_t StateLength() const;
    // Makes growing states empty and sets states of fixed size to zero. The next run may have another batch
    // size.
    Status ResetStates();
    // Returns a copy of the state's current value. Fails with kNotFound if there is no such state, or if
    // neither a run nor SetState has set it since the last ResetStates.
    Result<Value> GetState(const std::string& name) const;
    // Copies `value` to the state, for the next run to read. A growing state accepts a value of any length,
    // but Run fails if two growing states have different lengths. To fork a conversation, copy all states to
    // a clone.
    Status SetState(const std::string& name, const Value& value);

    // Starts to record the time per node of the runs of this predictor. A profile that is being recorded is
    // discarded. Clones are not recorded. A recorded run is slower, because it reads the clock twice per
    // node.
    Status StartProfile();
    // Ends the recording and returns the profile. Fails if StartProfile was not called.
    Result<Profile> StopProfile();

    // Returns warnings, one sentence each. They report declarations that the import ignores, and measurements
    // that cannot be stored or read. They also report ops without a kernel, which run on the slow reference
    // evaluator. Kernels are chosen when Run gets new shapes, so call this function after the first Run. Do
    // not call it while another thread runs this predictor.
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
