"""Uses each SDK once, with the variables that `layover env --route` set: try.py BUCKET. Prints a line for each."""

import subprocess
import sys

import anthropic
import boto3
import openai

question = [{"role": "user", "content": "?"}]
client = openai.OpenAI(api_key="x", max_retries=0)
print("openai", client.chat.completions.create(model="m", messages=question).choices[0].message.content)
stream = client.chat.completions.create(model="m", messages=question, stream=True)
print("stream", "".join(event.choices[0].delta.content for event in stream))
message = anthropic.Anthropic(api_key="x", max_retries=0).messages.create(model="m", max_tokens=9, messages=question)
print("anthropic", message.content[0].text)
s3 = boto3.client("s3", region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b")
s3.put_object(Bucket=sys.argv[1], Key="k", Body=b"it arrived")
print("boto3", s3.get_object(Bucket=sys.argv[1], Key="k")["Body"].read().decode())
subprocess.run(["uv", "pip", "install", "--quiet", "--no-cache", "--target", "installed", "layover-demo"], check=True)
sys.path.insert(0, "installed")
print("uv", __import__("layover_demo").answer)
