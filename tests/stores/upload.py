"""Changes a bucket with boto3. usage: upload.py ENDPOINT create|put|many|multipart BUCKET [KEY] [--kms | NUMBER] < content"""

import sys

import boto3

endpoint, what, bucket, *rest = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
if what == "create":
    s3.create_bucket(Bucket=bucket)
elif what == "put":
    kms = {"ServerSideEncryption": "aws:kms"} if "--kms" in rest else {}
    s3.put_object(Bucket=bucket, Key=rest[0], Body=sys.stdin.buffer.read(), **kms)
elif what == "many":
    for i in range(int(rest[1])):
        s3.put_object(Bucket=bucket, Key=f"{rest[0]}extra{i}.txt", Body=b"x")
elif what == "multipart":
    content = sys.stdin.buffer.read()
    upload = s3.create_multipart_upload(Bucket=bucket, Key=rest[0])["UploadId"]
    part = s3.upload_part(Bucket=bucket, Key=rest[0], UploadId=upload, PartNumber=1, Body=content)
    s3.complete_multipart_upload(Bucket=bucket, Key=rest[0], UploadId=upload, MultipartUpload={"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]})
else:
    sys.exit(f"unknown operation '{what}'")
