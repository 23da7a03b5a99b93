"""How real servers reject a request, word for word: a response format that they do not support, or a long prompt.

The words come from the servers' source code and issue trackers, and from `tests/data/servers` for servers that we have
run. The line numbers and paths in them are examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Rejection = tuple[int, str]
"""Status and body of an error."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one server behaves.

    Args:
        accepts: the types of `response_format` that it supports.
        format: its answer to another response format.
        context: its answer to a request longer than its context; None if it cuts the prompt silently.
    """

    accepts: tuple[str, ...]
    format: Rejection
    context: Rejection | None


_OPENAI_CONTEXT = (
    400,
    """{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in """
    """5120 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","""
    """"code":"context_length_exceeded"}}""",
)
_VLLM_CONTEXT = (
    400,
    """{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5216 """
    """tokens (1120 in the messages, 4096 in the completion). Please reduce the length of the messages or """
    """completion.","type":"BadRequestError","param":null,"code":400}""",
)

DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(
        ("json_schema", "json_object"),
        (400, """{"error":{"message":"Invalid parameter: 'response_format' is not supported with this model.","""
              """"type":"invalid_request_error","param":"response_format","code":"unsupported_parameter"}}"""),
        _OPENAI_CONTEXT,
    ),
    "llama-cpp-python": Dialect(
        ("json_object",),
        (500, """{"error":{"message":"1 validation error:\\n  {'type': 'literal_error', 'loc': ('body', """
              """'response_format', 'type'), 'msg': \\"Input should be 'text' or 'json_object'\\", 'input': """
              """'json_schema', 'ctx': {'expected': \\"'text' or 'json_object'\\"}}\\n\\n  File \\"app.py\\", """
              """line 376, in create_chat_completion\\n    POST /v1/chat/completions","""
              """"type":"internal_server_error","param":null,"code":null}}"""),
        (500, """{"error":{"message":"Requested tokens (5120) exceed context window of 4096","""
              """"type":"internal_server_error","param":null,"code":null}}"""),
    ),
    "vllm-0.4": Dialect(
        ("json_object",),
        (400, """{"object":"error","message":"[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), """
              """'msg': \\"Input should be 'text' or 'json_object'\\", 'input': 'json_schema', 'ctx': {'expected': """
              """\\"'text' or 'json_object'\\"}, 'url': 'https://errors.pydantic.dev/2.7/v/literal_error'}]","""
              """"type":"BadRequestError","param":null,"code":400}"""),
        _VLLM_CONTEXT,
    ),
    "vllm-xgrammar": Dialect(
        ("json_object",),
        (400, """{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","""
              """"type":"BadRequestError","param":null,"code":400}"""),
        (400, """{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 4096. This """
              """model's maximum context length is 4096 tokens and your request has 1120 input tokens (4096 > """
              """4096 - 1120).","""
              """"type":"BadRequestError","param":null,"code":400}"""),
    ),
    "tgi": Dialect(
        (),
        (422, "Failed to deserialize the JSON body into the target type: response_format: unknown variant "
              "`json_schema`, expected `json_object` or `regex` at line 1 column 3721"),
        (422, """{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5120 """
              """`inputs` tokens and 4096 `max_new_tokens`","error_type":"validation"}"""),
    ),
    "tgi-3": Dialect(
        (),
        (422, "Failed to deserialize the JSON body into the target type: response_format: missing field `value` at "
              "line 1 column 168"),
        (422, """{"error":"Input validation error: `inputs` must have less than 4096 tokens. Given: 5120","""
              """"error_type":"validation"}"""),
    ),
    "lm-studio": Dialect(
        ("text",),
        (400, """{"error":"'response_format.type' must be 'json_schema' or 'text'"}"""),
        (400, """{"error":"Trying to keep the first 5120 tokens when context the overflows. However, the model is """
              """loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a """
              """larger context length, or provide a shorter input"}"""),
    ),
    "sglang": Dialect(
        (),
        (400, """{"object":"error","message":"Grammar-based generation (json_schema) is not supported when the """
              """server is launched with --grammar-backend none","type":"BadRequest","param":null,"code":400}"""),
        (400, """{"object":"error","message":"The input (5120 tokens) is longer than the model's context length """
              """(4096 tokens).","type":"BadRequest","param":null,"code":400}"""),
    ),
    "llama.cpp": Dialect(
        ("json_object",),
        (400, """{"error":{"code":400,"message":"Failed to initialize samplers","type":"invalid_request_error"}}"""),
        (400, """{"error":{"code":400,"message":"request (5120 tokens) exceeds the available context size (4096 """
              """tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5120,"""
              """"n_ctx":4096}}"""),
    ),
    "deepseek": Dialect(
        ("json_object",),
        (400, """{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","""
              """"param":null,"code":"invalid_request_error"}}"""),
        _OPENAI_CONTEXT,
    ),
    "groq": Dialect(
        ("json_object",),
        (400, """{"error":{"message":"This model does not support response format `json_schema`. See supported """
              """models at https://console.groq.com/docs/structured-outputs#supported-models","""
              """"type":"invalid_request_error","param":"response_format"}}"""),
        (400, """{"error":{"message":"Please reduce the length of the messages or completion.","""
              """"type":"invalid_request_error","param":"messages"}}"""),
    ),
    "together": Dialect(
        (),
        (400, """{"id":"x","error":{"message":"Input validation error","type":"invalid_request_error","param":null,"""
              """"code":null}}"""),
        (422, """{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. """
              """Given: 5120 `inputs` tokens and 4096 `max_new_tokens`","type":"invalid_request_error"}}"""),
    ),
    "anthropic-proxy": Dialect(
        (),
        (400, """{"type":"error","error":{"type":"invalid_request_error","message":"response_format: Extra inputs """
              """are not permitted"}}"""),
        (400, """{"type":"error","error":{"type":"invalid_request_error","message":"input length and """
              """`max_tokens` exceed context limit: 199000 + 4096 > 200000, decrease input """
              """length or `max_tokens` and try again"}}"""),
    ),
    "modelscope": Dialect(
        ("json_object",),
        (200, """{"id":"","object":"","created":0,"model":"","choices":null,"usage":{"prompt_tokens":0,"""
              """"completion_tokens":0,"total_tokens":0}}"""),
        _OPENAI_CONTEXT,
    ),
    "vllm-engine": Dialect(
        ("json_object",),
        (500, "Internal Server Error"),
        (400, """{"object":"error","message":"The decoder prompt (length 5120) is longer than the maximum model """
              """length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.","""
              """"type":"BadRequestError","param":null,"code":400}"""),
    ),
    "sglang-0.4": Dialect(
        ("json_object", "json_schema"),
        (400, "invalid grammar"),
        (400, """{"object":"error","message":"Input length (5120 tokens) exceeds the maximum allowed length (4090 """
              """tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError"}"""),
    ),
    "dashscope": Dialect(
        ("json_object",),
        (400, """{"error":{"message":"<400> InternalError.Algo.InvalidParameter: 'messages' must contain the word """
              """'json' in some form, to use 'response_format' of type 'json_object'.","""
              """"type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}"""),
        (400, """{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be """
              """[1, 30720]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}"""),
    ),
    "moonshot": Dialect(
        ("json_object",),
        (400, """{"error":{"message":"Invalid request: response_format type json_schema","""
              """"type":"invalid_request_error"}}"""),
        (400, """{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","""
              """"type":"invalid_request_error"}}"""),
    ),
    "zhipu": Dialect(
        ("json_object",),
        (400, """{"error":{"code":"1210","message":"API parameter error, check the documentation."}}"""),
        (400, """{"error":{"code":"1261","message":"Prompt exceeds max length"}}"""),
    ),
    "mistral": Dialect(
        ("json_schema", "json_object"),
        (422, """{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["response_format"]}]}}"""),
        (400, """{"object":"error","message":"Prompt contains 5120 tokens and 0 draft tokens, too large for model """
              """with 4096 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}"""),
    ),
    "openrouter": Dialect(
        ("json_object",),
        (400, """{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"bad request"}}}"""),
        (400, """{"error":{"message":"This endpoint's maximum context length is 4096 tokens. However, you requested """
              """about 5120 tokens. Please reduce the length of either one, or use the \\"middle-out\\" transform to """
              """compress your prompt automatically.","code":400}}"""),
    ),
    "cohere": Dialect(
        ("json_object",),
        (400, """{"message":"invalid type: parameter response_format"}"""),
        (400, """{"message":"too many tokens: size limit exceeded by 1024 tokens. Try using shorter or fewer inputs. """
              """The limit for this model is 4096 tokens."}"""),
    ),
    "bedrock": Dialect(
        (),
        (400, """{"message":"Malformed input request: extraneous key [response_format] is not permitted, please """
              """reformat your input and try again."}"""),
        (400, """{"message":"Input is too long for requested model."}"""),
    ),
    "xai": Dialect(
        ("json_schema", "json_object"),
        (400, """{"code":"Client specified an invalid argument","error":"Invalid request content"}"""),
        (400, """{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 4096 """
              """but the request contains 5120 tokens."}"""),
    ),
    "siliconflow": Dialect(
        ("json_object",),
        (400, """{"code":20024,"message":"Json mode is not supported for this model.","data":null}"""),
        (400, """{"code":20015,"message":"length of prompt_tokens (5120) must be less than max_seq_len (4096).","""
              """"data":null}"""),
    ),
    "tensorrt-llm": Dialect(
        ("json_object",),
        (400, """{"object":"error","message":"guided decoding is not enabled","type":"BadRequestError","code":400}"""),
        (400, """{"object":"error","message":"The sum of prompt length (5120) and query length (0) should not exceed """
              """max_num_tokens (4096)","type":"BadRequestError","param":null,"code":400}"""),
    ),
    "unknown-400": Dialect((), (400, """{"error":{"message":"E17"}}"""), (400, """{"error":{"message":"E18"}}""")),
    "unknown-422": Dialect((), (422, "no"), (422, "That is more than this endpoint takes.")),
    "unknown-500": Dialect((), (500, ""), (500, """{"error":{"message":"device-side assert triggered"}}""")),
    "request-entity": Dialect(
        ("json_schema", "json_object"), (400, "invalid"), (413, "<html><h1>413 Request Entity Too Large</h1></html>")
    ),
    "plain-text": Dialect((), (500, "Internal Server Error"), (400, "prompt is too long: 5120 tokens > 4096 maximum")),
    "ollama": Dialect(("json_schema", "json_object"), (400, '{"error":"invalid format"}'), None),
}  # fmt: skip
"""Dialects by the server's name."""
