"""Tests a running server with tensorflow-serving-api, the client of TensorFlow Serving. An error raises an exception.

usage: tfs_client.py GRPC MODEL VERSION, where GRPC is an address such as 127.0.0.1:8001 and MODEL is a half_plus_two: y = x / 2 + 2"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import (classification_pb2, get_model_metadata_pb2, get_model_status_pb2, inference_pb2, model_management_pb2,
                                     model_service_pb2_grpc, predict_pb2, prediction_service_pb2_grpc, regression_pb2)

SECONDS = 30.0


def example(value):
    return tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[value]))}))


def predict(stub, model, x, **spec):
    request = predict_pb2.PredictRequest()
    request.model_spec.name = model
    for key, value in spec.items():
        if key == "version":
            request.model_spec.version.value = value
        else:
            setattr(request.model_spec, key, value)
    request.inputs["x"].CopyFrom(tf.make_tensor_proto(x, dtype=tf.float32))
    return stub.Predict(request, SECONDS)


def refusal(call, code, *says):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, error
        for text in says:
            assert text in error.details(), error.details()
        return
    raise AssertionError(f"not refused: {says}")


def check_predict(stub, model, version):
    result = predict(stub, model, [1.0, 2.0, 5.0])
    assert list(result.outputs["y"].float_val) == [2.5, 3.0, 4.5], result
    assert result.outputs["y"].dtype == tf.float32.as_datatype_enum
    assert (result.model_spec.name, result.model_spec.signature_name, result.model_spec.version.value) == (model, "serving_default", version)
    np.testing.assert_array_equal(tf.make_ndarray(predict(stub, model, [8.0], version=version).outputs["y"]), [6.0])
    # As TensorFlow's own test of the server: one value, and the name of the output.
    request = predict_pb2.PredictRequest()
    request.model_spec.name = model
    request.inputs["x"].dtype = tf.float32.as_datatype_enum
    request.inputs["x"].float_val.append(2.0)
    request.inputs["x"].tensor_shape.dim.add().size = 1
    request.output_filter.append("y")
    assert list(stub.Predict(request, SECONDS).outputs["y"].float_val) == [3.0]
    large = np.arange(200, dtype=np.float32)  # tensor_content, and more items than one batch of the model
    np.testing.assert_array_equal(tf.make_ndarray(predict(stub, model, large).outputs["y"]), large / 2 + 2)
    request.output_filter[0] = "z"
    refusal(lambda: stub.Predict(request, SECONDS), grpc.StatusCode.INVALID_ARGUMENT, "output tensor alias not found in signature: z")
    refusal(lambda: predict(stub, "none", [1.0]), grpc.StatusCode.NOT_FOUND, "Servable not found for request: Latest(none)")
    refusal(lambda: predict(stub, model, [1.0], version=99), grpc.StatusCode.NOT_FOUND, f"Specific({model}, 99)")
    refusal(lambda: predict(stub, model, [1.0], version_label="none"), grpc.StatusCode.INVALID_ARGUMENT, "label: none")
    refusal(lambda: predict(stub, model, [1.0], signature_name="none"), grpc.StatusCode.INVALID_ARGUMENT, '"none" not found')
    # Many calls at once are batched, and each gets its own answer.
    request.output_filter[0] = "y"
    calls = []
    for i in range(64):
        request.inputs["x"].float_val[0] = i
        calls.append(stub.Predict.future(request, SECONDS))
    assert [call.result().outputs["y"].float_val[0] for call in calls] == [i / 2 + 2 for i in range(64)]


def check_examples(stub, model, version, regress, classify):
    request = regression_pb2.RegressionRequest()
    request.model_spec.name, request.model_spec.signature_name = model, regress
    request.input.example_list.examples.extend([example(1.0), example(2.0)])
    result = stub.Regress(request, SECONDS)
    assert [r.value for r in result.result.regressions] == [2.5, 3.0], result
    assert (result.model_spec.signature_name, result.model_spec.version.value) == (regress, version)
    request = classification_pb2.ClassificationRequest()
    request.model_spec.name, request.model_spec.signature_name = model, classify
    request.input.example_list_with_context.examples.extend([tf.train.Example(), tf.train.Example()])
    request.input.example_list_with_context.context.CopyFrom(example(4.0))
    result = stub.Classify(request, SECONDS)
    assert [c.classes[0].score for c in result.result.classifications] == [4.0, 4.0], result
    many = inference_pb2.MultiInferenceRequest()
    for signature, method in ((regress, "regress"), (classify, "classify")):
        task = many.tasks.add()
        task.model_spec.name, task.model_spec.signature_name, task.method_name = model, signature, f"tensorflow/serving/{method}"
    many.input.example_list.examples.extend([example(float(i)) for i in range(9)])
    results = stub.MultiInference(many, SECONDS).results
    assert [r.value for r in results[0].regression_result.regressions] == [i / 2 + 2 for i in range(9)]
    assert [c.classes[0].score for c in results[1].classification_result.classifications] == [i / 2 + 2 for i in range(9)]
    # Serialized examples are also an ordinary input.
    predicted = predict_pb2.PredictRequest()
    predicted.model_spec.name, predicted.model_spec.signature_name = model, regress
    predicted.inputs["inputs"].CopyFrom(tf.make_tensor_proto([example(6.0).SerializeToString()]))
    np.testing.assert_array_equal(tf.make_ndarray(stub.Predict(predicted, SECONDS).outputs["outputs"]).ravel(), [5.0])
    request.input.example_list.Clear()
    refusal(lambda: stub.Classify(request, SECONDS), grpc.StatusCode.INVALID_ARGUMENT, "Input is empty")


def check_management(stub, service, model, version, signatures):
    request = get_model_metadata_pb2.GetModelMetadataRequest()
    request.model_spec.name = model
    refusal(lambda: stub.GetModelMetadata(request, SECONDS), grpc.StatusCode.INVALID_ARGUMENT, "at least one metadata_field")
    request.metadata_field.append("signature_def")
    response = stub.GetModelMetadata(request, SECONDS)
    assert response.model_spec.version.value == version
    signature_map = get_model_metadata_pb2.SignatureDefMap()
    assert response.metadata["signature_def"].Unpack(signature_map)
    assert signatures <= set(signature_map.signature_def), signature_map
    info = signature_map.signature_def["serving_default"].inputs["x"]
    assert info.dtype == tf.float32.as_datatype_enum and info.tensor_shape.dim
    status = get_model_status_pb2.GetModelStatusRequest()
    status.model_spec.name = model
    versions = service.GetModelStatus(status, SECONDS).model_version_status
    assert [(v.version, v.state, v.status.error_code) for v in versions] == [(version, 30, 0)]
    status.model_spec.name = "none"
    refusal(lambda: service.GetModelStatus(status, SECONDS), grpc.StatusCode.NOT_FOUND, "Could not find any versions of model none")
    refusal(lambda: service.HandleReloadConfigRequest(model_management_pb2.ReloadConfigRequest(), SECONDS), grpc.StatusCode.UNIMPLEMENTED,
            "the model repository decides")


def main(address, model, version, regress, classify):
    with grpc.insecure_channel(address) as channel:
        stub, service = prediction_service_pb2_grpc.PredictionServiceStub(channel), model_service_pb2_grpc.ModelServiceStub(channel)
        check_predict(stub, model, int(version))
        check_examples(stub, model, int(version), regress, classify)
        check_management(stub, service, model, int(version), {"serving_default", regress, classify})


main(*sys.argv[1:])
