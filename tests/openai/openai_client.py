"""Tests a running server with OpenAI's client, synchronous and asynchronous. An error raises an exception.

usage: openai_client.py URL, such as http://127.0.0.1:8000/v1"""

import asyncio
import sys

import openai

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Hello"}]}]


def models(client):
    assert [model.id for model in client.models.list()] == ["embed", "tiny"]
    assert client.models.retrieve("tiny").id == "tiny"


def completions(client):
    whole = client.completions.create(model="tiny", prompt="Hello", max_tokens=12, temperature=0, n=2, logprobs=2, seed=3)
    assert whole.object == "text_completion" and len(whole.choices) == 2
    assert whole.usage.prompt_tokens == 5 and whole.usage.completion_tokens == 24
    assert len(whole.choices[0].logprobs.tokens) == 12
    parts = client.completions.create(model="tiny", prompt="Hello", max_tokens=12, temperature=0, stream=True)
    assert "".join(part.choices[0].text for part in parts) == whole.choices[0].text
    both = client.completions.create(model="tiny", prompt=["Hello", "World"], max_tokens=4, temperature=0)
    assert [choice.index for choice in both.choices] == [0, 1]


def chats(client):
    options = {"model": "tiny", "messages": MESSAGES, "max_completion_tokens": 10, "temperature": 0}
    whole = client.chat.completions.create(**options, logprobs=True, top_logprobs=2)
    choice = whole.choices[0]
    assert choice.message.role == "assistant" and choice.finish_reason == "length"
    assert len(choice.logprobs.content) == 10 and len(choice.logprobs.content[0].top_logprobs) == 2
    text, usage, reasons = "", None, []
    for part in client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}):
        usage = part.usage or usage
        for delta in part.choices:
            text += delta.delta.content or ""
            reasons.append(delta.finish_reason)
    assert text == choice.message.content, (text, choice.message.content)
    assert reasons[-1] == "length" and usage.completion_tokens == 10, (reasons, usage)
    extended = client.chat.completions.create(**options, extra_body={"top_k": 5, "repetition_penalty": 1.1})
    assert extended.choices[0].message.content


def embeddings(client):
    texts = ["Hello", "a longer text"]
    base64 = client.embeddings.create(model="embed", input=texts)  # the client asks for base64
    floats = client.embeddings.create(model="embed", input=texts, encoding_format="float")
    for a, b in zip(base64.data, floats.data):
        assert len(a.embedding) == 8 and max(abs(x - y) for x, y in zip(a.embedding, b.embedding)) < 1e-6
    assert floats.usage.prompt_tokens == sum(map(len, texts))


def errors(client):
    for call, kind in [(lambda: client.completions.create(model="none", prompt="a"), openai.NotFoundError),
                       (lambda: client.completions.create(model="tiny", prompt="a", temperature=9), openai.BadRequestError),
                       (lambda: client.chat.completions.create(model="tiny", messages=[]), openai.BadRequestError)]:
        try:
            call()
        except kind as error:
            assert error.body["message"], error.body
        else:
            raise AssertionError(f"{kind} expected")


def abandoned(client):
    """A client that closes a stream early does not disturb the next request."""
    with client.completions.create(model="tiny", prompt="Hello", max_tokens=2000, stream=True, extra_body={"ignore_eos": True}) as stream:
        next(iter(stream))
    assert client.completions.create(model="tiny", prompt="Hello", max_tokens=2).usage.completion_tokens <= 2


async def together(url):
    """Eight streams at once have the texts of single requests."""
    client = openai.AsyncOpenAI(base_url=url, api_key="none")

    async def text_of(i):
        stream = await client.completions.create(model="tiny", prompt=f"Prompt {i}", max_tokens=20 + i, temperature=1, seed=i, stream=True)
        return "".join([part.choices[0].text async for part in stream])

    alone = [await text_of(i) for i in range(8)]
    assert await asyncio.gather(*map(text_of, range(8))) == alone
    await client.close()


def main():
    client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
    for test in (models, completions, chats, embeddings, errors, abandoned):
        test(client)
    asyncio.run(together(sys.argv[1]))


main()
