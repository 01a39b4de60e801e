"""HTTP requests other than inference: paths, verbs, metadata, repository, shared memory, settings. The cases must run
in this order."""

from case import Http, tensor, text

REGION = "/tern_differential"  # run.py creates this shared memory of 64 bytes; its first three floats are 1, 2, 3


def get(name, path, method="GET", body=None, headers=None, **options):
    return Http(f"http.{name}", method, path, text(body), headers or {}, **options)


def post(name, path, body=None, headers=None, **options):
    return get(name, path, "POST", body, headers, **options)


def reads():
    paths = {"health.live": "/v2/health/live", "health.ready": "/v2/health/ready", "server": "/v2", "server.slash": "/v2/",
             "ready": "/v2/models/plain/ready",
             "ready.version": "/v2/models/versions/versions/3/ready", "ready.version_not_loaded": "/v2/models/versions/versions/2/ready",
             "ready.version_unknown": "/v2/models/plain/versions/9/ready", "ready.unknown": "/v2/models/nothing/ready",
             "ready.not_loaded": "/v2/models/spare/ready",
             "metadata": "/v2/models/plain", "metadata.slash": "/v2/models/plain/", "metadata.batch": "/v2/models/batch",
             "metadata.types": "/v2/models/types",
             "metadata.versions": "/v2/models/versions", "metadata.version": "/v2/models/versions/versions/1",
             "metadata.version_not_loaded": "/v2/models/versions/versions/2",
             "metadata.version_unknown": "/v2/models/plain/versions/9", "metadata.version_text": "/v2/models/plain/versions/x",
             "metadata.unknown": "/v2/models/nothing",
             "metadata.not_loaded": "/v2/models/spare", "metadata.query": "/v2/models/plain?a=b", "config": "/v2/models/plain/config",
             "config.batch": "/v2/models/batch/config", "config.queue": "/v2/models/queue/config",
             "config.version": "/v2/models/versions/versions/3/config",
             "config.unknown": "/v2/models/nothing/config", "config.version_unknown": "/v2/models/plain/versions/9/config",
             "stats": "/v2/models/plain/stats", "stats.all": "/v2/models/stats", "stats.versions": "/v2/models/versions/stats",
             "stats.version": "/v2/models/versions/versions/1/stats", "stats.version_unknown": "/v2/models/plain/versions/9/stats",
             "stats.unknown": "/v2/models/nothing/stats", "stats.not_loaded": "/v2/models/spare/stats", "path.root": "/",
             "path.v1": "/v1/models/plain", "path.v3": "/v3",
             "path.unknown": "/v2/unknown", "path.model_unknown": "/v2/models/plain/unknown", "path.models": "/v2/models",
             "path.models_slash": "/v2/models/",
             "path.health": "/v2/health", "path.health_unknown": "/v2/health/dead", "path.double_slash": "//v2", "path.upper": "/V2/health/live",
             "path.dots": "/v2/../v2",
             "path.version_empty": "/v2/models/plain/versions", "path.version_slash": "/v2/models/plain/versions/",
             "path.tail": "/v2/health/live/now",
             "path.repository": "/v2/repository", "path.favicon": "/favicon.ico", "path.percent": "/v2/models/%",
             "path.percent_zero": "/v2/models/%00"}
    return [get(name, path) for name, path in paths.items()]


def verbs():
    paths = {"live": "/v2/health/live", "server": "/v2", "metadata": "/v2/models/plain", "ready": "/v2/models/plain/ready",
             "config": "/v2/models/plain/config",
             "stats": "/v2/models/plain/stats", "memory": "/v2/systemsharedmemory/status"}
    cases = [post(f"verb.post_{name}", path, "{}") for name, path in paths.items()]
    reads_of_writes = {"infer": "/v2/models/plain/infer", "index": "/v2/repository/index", "load": "/v2/repository/models/plain/load",
                       "generate": "/v2/models/plain/generate",
                       "unload": "/v2/repository/models/plain/unload", "register": "/v2/systemsharedmemory/region/r/register",
                       "unregister": "/v2/systemsharedmemory/unregister"}
    cases += [get(f"verb.get_{name}", path) for name, path in reads_of_writes.items()]
    return cases + [get(f"verb.{method.lower()}", path, method) for method, path in [
        ("PUT", "/v2/models/plain/infer"), ("DELETE", "/v2/models/plain"), ("HEAD", "/v2/health/live"), ("OPTIONS", "/v2/models/plain/infer"),
        ("PATCH", "/v2")]]


def repository():
    load, unload = "/v2/repository/models/spare/load", "/v2/repository/models/spare/unload"
    index = "/v2/repository/index"
    return [post("index", index), post("index.object", index, "{}"), post("index.ready", index, {"ready": True}),
            post("index.not_ready", index, {"ready": False}),
            post("index.ready_text", index, {"ready": "x"}), post("index.bad", index, "{"), post("index.array", index, "[]"),
            post("index.named", "/v2/repository/other/index"),
            post("unload.not_loaded", unload), post("unload.unknown", "/v2/repository/models/nothing/unload"),
            post("load.unknown", "/v2/repository/models/nothing/load"),
            post("load", load), post("load.again", load), get("load.ready", "/v2/models/spare/ready"),
            post("load.object", load, "{}"), post("load.bad", load, "{"), post("load.array", load, "[]"),
            post("load.parameters_list", load, {"parameters": []}),
            post("load.parameter_unknown", load, {"parameters": {"what": "x"}}), post("load.config_number", load, {"parameters": {"config": 1}}),
            post("load.config_bad", load, {"parameters": {"config": "{"}}), post("load.config_empty", load, {"parameters": {"config": ""}}),
            post("load.file_no_config", load, {"parameters": {"file:1/model.py": "YQ=="}}),
            post("load.file_not_base64", load, {"parameters": {"config": "{}", "file:1/model.py": "*"}}),
            post("load.named_repository", "/v2/repository/other/models/spare/load"), post("load.name_dots", "/v2/repository/models/..%2fspare/load"),
            post("unload.bad", unload, "{"), post("load.after_bad", load),
            post("unload.dependents_text", unload, {"parameters": {"unload_dependents": "x"}}), post("load.once_more", load),
            post("unload.dependents", unload, {"parameters": {"unload_dependents": True}}), post("unload", unload),
            get("unload.ready", "/v2/models/spare/ready"),
            get("unload.metadata", "/v2/models/spare"), get("unload.version", "/v2/models/spare/versions/1"), post("index.after", index, wait=3)]


def memory():
    base = "/v2/systemsharedmemory"
    region = f"{base}/region/r"
    whole = {"key": REGION, "offset": 0, "byte_size": 64}
    cases = [get("memory.status_empty", f"{base}/status"), get("memory.status_unknown", f"{base}/region/none/status"),
             get("memory.cuda_status", "/v2/cudasharedmemory/status"),
             get("memory.cuda_status_unknown", "/v2/cudasharedmemory/region/none/status"),
             post("memory.unregister_unknown", f"{base}/region/none/unregister")]
    for name, body in {"no_body": None, "bad": "{", "array": "[]", "empty": {}, "no_key": {"byte_size": 64}, "no_size": {"key": REGION},
                       "key_number": {**whole, "key": 1},
                       "size_text": {**whole, "byte_size": "64"}, "size_negative": {**whole, "byte_size": -1}, "size_zero": {**whole, "byte_size": 0},
                       "size_large": {**whole, "byte_size": 1000000}, "offset_large": {**whole, "offset": 4096},
                       "offset_negative": {**whole, "offset": -1},
                       "offset_text": {**whole, "offset": "0"}, "no_file": {**whole, "key": "/tern_no_such_region"},
                       "key_empty": {**whole, "key": ""},
                       "key_dots": {**whole, "key": "/../etc/passwd"}}.items():
        cases += [post(f"memory.register.{name}", f"{region}_{name}/register", body), post(f"memory.undo.{name}", f"{region}_{name}/unregister")]
    cases += [post("memory.register", f"{region}/register", whole), post("memory.register_again", f"{region}/register", whole),
              post("memory.register_no_name", f"{base}/register", whole), get("memory.status", f"{base}/status"),
              get("memory.status_one", f"{region}/status")]

    def infer(name, inside, output=None, outputs=True, **options):
        inputs = [tensor("INPUT0", "FP32", [3], **inside)]
        more = {"outputs": [{"name": "OUTPUT0", "parameters": output}]} if output and outputs else {}
        return post(f"memory.infer.{name}", "/v2/models/plain/infer", {"inputs": inputs, **more}, values=True, **options)

    source, target = {"shared_memory_region": "r", "shared_memory_byte_size": 12}, {"shared_memory_region": "r", "shared_memory_offset": 16,
        "shared_memory_byte_size": 12}
    cases += [infer("input", source), infer("both", source, target), infer("unknown", {**source, "shared_memory_region": "x"}),
              infer("size_small", {**source, "shared_memory_byte_size": 8}), infer("size_large", {**source, "shared_memory_byte_size": 16}),
              infer("size_over", {**source, "shared_memory_byte_size": 100}),
              infer("offset_over", {**source, "shared_memory_offset": 60}), infer("offset_huge", {**source, "shared_memory_offset": 2**63}),
              infer("offset_text", {**source, "shared_memory_offset": "4"}), infer("size_zero", {**source, "shared_memory_byte_size": 0}),
              infer("offset", {**source, "shared_memory_offset": 4}),
              infer("output_small", source, {**target, "shared_memory_byte_size": 4}),
              infer("output_over", source, {**target, "shared_memory_offset": 60}),
              infer("output_unknown", source, {**target, "shared_memory_region": "x"}),
              infer("size_text", {**source, "shared_memory_byte_size": "12"})]
    return cases + [post("memory.unregister", f"{region}/unregister"), post("memory.unregister_again", f"{region}/unregister"),
                    post("memory.unregister_all", f"{base}/unregister"),
                    post("memory.unregister_body", f"{base}/unregister", "{"), post("memory.cuda_unregister", "/v2/cudasharedmemory/unregister"),
                    post("memory.cuda_register_empty", "/v2/cudasharedmemory/region/c/register", {}),
                    post("memory.cuda_register_bad", "/v2/cudasharedmemory/region/c/register", "{"),
                    get("memory.path", f"{base}/region/r"), get("memory.path_unknown", f"{base}/what")]


def settings():
    trace, log = "/v2/trace/setting", "/v2/logging"
    model = "/v2/models/plain/trace/setting"
    cases = [get("trace", trace), get("trace.model", model), get("trace.unknown_model", "/v2/models/nothing/trace/setting"), get("log", log)]
    for name, body in {"rate": {"trace_rate": "7"}, "rate_number": {"trace_rate": 7}, "rate_text": {"trace_rate": "x"},
                       "rate_negative": {"trace_rate": "-1"}, "rate_null": {"trace_rate": None},
                       "level": {"trace_level": ["OFF"]}, "level_text": {"trace_level": "OFF"}, "level_unknown": {"trace_level": ["LOUD"]},
                       "level_number": {"trace_level": [1]},
                       "level_two": {"trace_level": ["TIMESTAMPS", "OFF"]}, "level_null": {"trace_level": None}, "count": {"trace_count": "5"},
                       "count_text": {"trace_count": "many"},
                       "count_low": {"trace_count": "-2"}, "count_null": {"trace_count": None}, "frequency": {"log_frequency": "3"},
                       "frequency_text": {"log_frequency": "x"},
                       "frequency_null": {"log_frequency": None}, "file": {"trace_file": "x.json"}, "mode": {"trace_mode": "opentelemetry"},
                       "unknown": {"what": "1"},
                       "empty": {}, "array": [], "bad": "{", "no_body": None, "huge": {"trace_rate": "99999999999999999999"}}.items():
        cases += [post(f"trace.set.{name}", trace, body), post(f"trace.model.{name}", model, body)]
    cases += [post("trace.set.unknown_model", "/v2/models/nothing/trace/setting", {"trace_rate": "1"}), get("trace.after", trace, values=True)]
    for name, body in {"info": {"log_info": False}, "info_back": {"log_info": True}, "info_text": {"log_info": "no"}, "info_number": {"log_info": 0},
                       "verbose": {"log_verbose_level": 1},
                       "verbose_back": {"log_verbose_level": 0}, "verbose_text": {"log_verbose_level": "1"},
                       "verbose_negative": {"log_verbose_level": -1}, "verbose_bool": {"log_verbose_level": True},
                       "format": {"log_format": "ISO8601"}, "format_back": {"log_format": "default"}, "format_unknown": {"log_format": "xml"},
                       "format_number": {"log_format": 1},
                       "file": {"log_file": "x.log"}, "warning": {"log_warning": True}, "error": {"log_error": True}, "unknown": {"what": 1},
                       "null": {"log_info": None},
                       "empty": {}, "array": [], "bad": "{", "no_body": None}.items():
        cases.append(post(f"log.set.{name}", log, body))
    return cases + [get("log.after", log)]


def generate():
    path = "/v2/models/plain/generate"
    return [post("generate", path, {"INPUT0": [1, 2]}), post("generate.scalar", path, {"INPUT0": 1}), post("generate.missing", path, {}),
            post("generate.bad", path, "{"),
            post("generate.unknown", "/v2/models/nothing/generate", {"INPUT0": 1}),
            post("generate.stream_unknown", "/v2/models/nothing/generate_stream", {"INPUT0": 1}),
            post("generate.text", path, {"INPUT0": "x"}), post("generate.array", path, [1]), post("generate.id", path, {"id": "7", "INPUT0": [1]})]


CASES = [*reads(), *verbs(), *repository(), *memory(), *settings(), *generate()]
# Cases for servers with model control `none`, which refuse to load and unload models for clients.
NONE_CASES = [post("none.load", "/v2/repository/models/plain/load"), post("none.unload", "/v2/repository/models/plain/unload"),
              post("none.load_unknown", "/v2/repository/models/nothing/load"), post("none.index", "/v2/repository/index"),
              get("none.ready", "/v2/models/spare/ready"), get("none.health", "/v2/health/ready")]
