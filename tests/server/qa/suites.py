"""Lists the suites: the models that they need, the options of the server, the test files to run, and the tests that are
excluded or known to fail, with reasons."""

import dataclasses

import models


@dataclasses.dataclass
class Test:
    """One test file of the checkout. `args` are the names of the tests to run, or the arguments of a script. `without`
    maps a test that is not run to the reason. `known` maps a test that runs and fails to the reason; for a script, the
    key is the name of the script."""

    folder: str
    file: str
    args: tuple = ()
    env: dict = dataclasses.field(default_factory=dict)
    without: dict = dataclasses.field(default_factory=dict)
    known: dict = dataclasses.field(default_factory=dict)
    is_unittest: bool = True
    must_fail: bool = False
    expect: str = ""
    seconds: int = 180


@dataclasses.dataclass
class Part:
    """Tests that run against the same server process, which is started with `flags`."""

    tests: list
    flags: tuple = ()
    env: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Suite:
    """`left_out` is for files of which no test runs. It maps each test to the reason."""

    name: str
    models: object
    parts: list
    left_out: dict = dataclasses.field(default_factory=dict)


def examples(*names, **more):
    return [Test("client/src/python/examples", f"{name.split()[0]}.py", tuple(name.split()[1:]), is_unittest=False, **more) for name in names]


def qa(folder, file, *args, **more):
    return Test(f"server/qa/{folder}", file, tuple(args), **more)


SHM = ("--shared-memory",)
SHM_TESTS = ("test_invalid_create_shm", "test_valid_create_set_register", "test_unregister_before_register", "test_unregister_after_register",
             "test_reregister_after_register", "test_unregister_after_inference", "test_register_after_inference", "test_too_big_shm",
             "test_mixed_raw_shm", "test_unregisterall", "test_infer_offset_out_of_bound", "test_infer_byte_size_out_of_bound",
             "test_infer_integer_overflow", "test_register_out_of_bound", "test_register_reserved_names", "test_register_invalid_shm_key",
             "test_python_client_leak")
UNREGISTER_TESTS = ("test_unregister_shm_during_inference_single_req", "test_unregister_shm_during_inference_multiple_req",
                    "test_unregister_shm_after_inference")


UNREGISTERED = "an unregistered region is no longer listed while a request still uses its memory; Triton lists it until the request ends"


def shm_parts():
    """Returns a part for each test, because test.sh also starts a new server for each test."""
    off = [qa("L0_shared_memory", "shared_memory_test.py", "SharedMemoryTest.test_client_shm_disabled_by_default", env={"CLIENT_TYPE": kind})
           for kind in ("http", "grpc")]
    on = [Part([qa("L0_shared_memory", "shared_memory_test.py", f"SharedMemoryTest.{name}", env={"CLIENT_TYPE": kind})], SHM)
          for name in SHM_TESTS for kind in ("http", "grpc")]
    return [Part(off), *on]


def unregister_parts():
    tests = [qa("L0_shared_memory", "shared_memory_test.py", f"TestSharedMemoryUnregister.{name}_{kind}", env={"CLIENT_TYPE": kind},
                known={f"{name}_{kind}": UNREGISTERED} if "during" in name else {})
             for name in UNREGISTER_TESTS for kind in ("http", "grpc")]
    return [Part([test], SHM) for test in tests]


LONG_NAME = "for a file name that is too long, Tern answers with an invalid argument (400); the test expects an internal error (500), with a TODO to change it"
NO_FLAG = "needs --metrics-config; Tern's histograms are always on and it has no summaries"
NO_CACHE = "needs the response cache"
METRICS_EXCEPTIONS = {"test_inf_counters_missing": NO_FLAG, "test_inf_histograms_exist": NO_FLAG, "test_inf_summaries_exist": NO_FLAG,
                      "test_summaries_custom_quantiles": NO_FLAG, "test_inf_summaries_exist_with_cache": NO_CACHE,
                      "test_cache_counters_exist": NO_CACHE, "test_cache_summaries_exist": NO_CACHE,
                      "test_pinned_memory_metrics_exist": "pinned memory is for GPUs",
                      "test_model_namespacing_label_with_namespace_on": "needs --model-namespacing"}

SUITES = [
    Suite("client examples http", models.simple, [
        Part(examples("simple_http_health_metadata", "simple_http_infer_client", "simple_http_async_infer_client", "simple_http_aio_infer_client",
                      "simple_http_string_infer_client", "simple_http_sequence_sync_infer_client", "simple_http_sequence_sync_infer_client -d",
                      "simple_http_shm_client", "simple_http_shm_string_client", "reuse_infer_objects_client")
             + examples("simple_http_infer_client -u localhost:8000/base_path -v", must_fail=True, expect="POST /base_path/v2/models/simple/infer"),
             SHM),
        Part(examples("simple_http_model_control", expect="PASS"), ("--model-control", "explicit"))]),
    Suite("client examples grpc", models.simple_and_repeat, [
        Part(examples("simple_grpc_health_metadata", "simple_grpc_infer_client", "simple_grpc_async_infer_client", "simple_grpc_aio_infer_client",
                      "simple_grpc_string_infer_client", "simple_grpc_sequence_sync_infer_client", "simple_grpc_sequence_sync_infer_client -d",
                      "simple_grpc_sequence_stream_infer_client", "simple_grpc_sequence_stream_infer_client -d",
                      "simple_grpc_aio_sequence_stream_infer_client", "simple_grpc_aio_sequence_stream_infer_client -d",
                      "simple_grpc_shm_client", "simple_grpc_shm_string_client", "simple_grpc_keepalive_client", "simple_grpc_custom_args_client",
                      "simple_grpc_custom_repeat", "reuse_infer_objects_client -i grpc -u localhost:8001",
                      "grpc_explicit_int_content_client", "grpc_explicit_int8_content_client", "grpc_explicit_byte_content_client"), SHM),
        Part(examples("simple_grpc_model_control", expect="PASS", known={"simple_grpc_model_control": LONG_NAME}), ("--model-control", "explicit"))]),
    Suite("client example grpc_client", models.densenet, [Part(examples("grpc_client"))]),
    Suite("L0_http aio", models.simple, [Part([qa("L0_http", "python_http_aio_test.py")], SHM)]),
    Suite("L0_grpc aio", models.simple_and_repeat, [Part([qa("L0_grpc", "python_grpc_aio_test.py", known={
        "test_register_cuda_shared_memory": "expects the error message of a server with GPUs"})], SHM)]),
    Suite("L0_grpc unit", models.grpc_unit, [
        Part([qa("L0_grpc", "python_unit_test.py", "GrpcTest")]),
        Part([qa("L0_grpc", "python_unit_test.py", "RestrictedProtocolTest")],
             ("--grpc-restricted-protocol=model-repository:admin-key=admin-value",
              "--grpc-restricted-protocol=inference,health:infer-key=infer-value"))]),
    Suite("L0_grpc plug-in", models.client_plug_in, [
        Part([qa("L0_grpc", "grpc_client_plugin_test.py")], ("--http-header-forward-pattern=.*", "--grpc-header-forward-pattern=.*"))]),
    Suite("L0_parameters", models.parameters, [
        Part([qa("L0_parameters", "parameters_test.py", f"InferenceParametersTest.{name}", known={
            "test_headers": "expects a space at the end of an HTTP field, which is not part of the value (RFC 9110)"})], flags) for name, flags in (
            ("test_params", ()), ("test_params_reserved_rejected", ()),
            ("test_headers", ("--grpc-header-forward-pattern", "MY_HEADER.*", "--http-header-forward-pattern", "MY_HEADER.*")),
            ("test_grpc_header_forward_pattern_case_sensitive", ("--grpc-header-forward-pattern", "(?-i)MY_HEADER.*")),
            ("test_headers_reserved_rejected", ("--grpc-header-forward-pattern", ".*", "--http-header-forward-pattern", ".*")))]),
    Suite("L0_parameters class count", models.class_count, [
        Part([qa("L0_parameters", "class_count_test.py", env={"CLIENT_TYPE": kind}, known={
            "test_classification_output_tensor_too_large": "Tern has no limit of 1,000,000 elements for classification"}) for kind in ("http", "grpc")], ("--log-verbose=1",))]),
    Suite("L0_http restricted", models.simple, [
        Part([qa("L0_http", "http_restricted_api_test.py", "RestrictedAPITest")],
             ("--http-restricted-api=model-repository:admin-key=admin-value",
              "--http-restricted-api=inference,metadata:infer-key=infer-value"))]),
    Suite("L0_http plug-in", models.simple, [Part([qa("L0_http", "http_client_plugin_test.py")])]),
    Suite("L0_http chunks", models.simple, [Part([qa("L0_http", "http_request_many_chunks.py")])]),
    Suite("L0_shared_memory", models.simple, shm_parts()),
    Suite("L0_shared_memory unregister", models.delayed_simple, unregister_parts()),
    Suite("L0_logging endpoint", models.simple_only, [Part([qa("L0_logging", "logging_endpoint_test.py")])]),
    Suite("L0_trace endpoint", models.simple_only, [
        Part([qa("L0_trace", "trace_endpoint_test.py")], ("--trace-file", "global_unittest.log", "--trace-level", "TIMESTAMPS", "--trace-rate", "1"))]),
    Suite("L0_infer_variable", models.variable, [Part([qa("L0_infer_variable", "infer_variable_test.py")])]),
    Suite("L0_batch_input", models.batch_input, [Part([qa("L0_batch_input", "batch_input_test.py")])]),
    Suite("L0_implicit_state", models.implicit_state, [
        Part([qa("L0_implicit_state", "implicit_state.py", env={"BACKENDS": "onnx"})])]),
    Suite("L0_metrics names", models.metrics, [
        Part([qa("L0_metrics", "metrics_config_test.py", *[f"MetricsConfigTest.test_{name}" for name in (
            "inf_counters_exist", "inf_histograms_missing", "inf_summaries_missing", "cache_counters_missing", "cache_summaries_missing",
            "model_namespacing_label_with_namespace_off")], without=METRICS_EXCEPTIONS)])]),
    Suite("L0_metrics queue size", models.queue_size, [Part([qa("L0_metrics", "metrics_queue_size_test.py")])]),
    Suite("L0_output_validation", models.output_validation, [
        Part([qa("L0_output_validation", "lt_op_val_client.py", "OutputValidationTest.test_success", "OutputValidationTest.test_datatype", without={
            "test_index": "PyTorch's outputs have an index in their names; its words are expected for one that does not exist"})])]),
    Suite("L0_http unit", models.http_unit, [Part([qa("L0_http", "http_test.py", known={
        "test_content_encoding_chunked_manually": "sends Content-Length with Transfer-Encoding, which Tern refuses as request smuggling",
        "test_load_oversized_file_parameter": LONG_NAME, "test_negative_dimensions": "Tern answers an invalid request with 400; the test expects 500"})], ("--model-control", "explicit", "--load-model", "*"))]),
    Suite("L0_string_io", models.string_io, [Part([qa("L0_string_io", "string_client_test.py")])]),
    Suite("L0_infer_zero", models.infer_zero, [Part([qa("L0_infer_zero", "infer_zero_test.py")])]),
    Suite("L0_client_nobatch", models.nobatch, [Part([qa("L0_client_nobatch", "client_test.py")])]),
    Suite("L0_scalar_io", models.scalar, [Part([qa("L0_scalar_io", "scalar_test.py")])]),
    Suite("L0_query", models.query, [Part([qa("L0_query", "query_e2e.py", "QueryTest.test_http", "QueryTest.test_grpc", without={
        f"test_{name}": "creates CUDA shared memory, which Tern does not support" for name in (
            "http_shared_memory", "http_out_of_shared_memory", "grpc_shared_memory", "grpc_out_of_shared_memory")})], SHM)]),
    Suite("L0_iterative_sequence", models.iterative_sequence, [
        Part([qa("L0_iterative_sequence", "iterative_sequence_e2e.py")], ("--model-control", "explicit"))]),
]
