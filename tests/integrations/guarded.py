"""What LiteLLM's proxy does with its Presidio guardrail. It registers global callbacks, so it runs in its own process.

Standard input is a list of {"params": ..., "messages": [...]}, where `params` are `litellm_params` of the proxy's
configuration. Standard output is a list of {"sent": [...], "answer": "..."} or {"refused": "..."}. The model repeats
all messages.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from litellm.caching.caching import DualCache
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.guardrails.guardrail_initializers import initialize_presidio
from litellm.types.guardrails import GuardrailEventHooks, LitellmParams
from litellm.types.utils import Choices, Message, ModelResponse


async def serve(case: dict[str, Any]) -> dict[str, Any]:
    """Run one chat model call through the guardrail's hooks, in the proxy's order."""
    guards: Any = initialize_presidio(LitellmParams(**case["params"]), {"guardrail_name": "incognote"})  # type: ignore[typeddict-item]  # the proxy passes more keys, which are not read
    caller, request = UserAPIKeyAuth(), {"messages": case["messages"], "model": "m"}
    try:
        for guard in guards:
            request = await guard.async_pre_call_hook(caller, DualCache(), request, "completion")
        sent = [message["content"] for message in request["messages"]]
        reply = Message(content=" / ".join(sent), role="assistant")
        answer: Any = ModelResponse(choices=[Choices(message=reply)])
        for guard in guards:
            if guard.should_run_guardrail(data=request, event_type=GuardrailEventHooks.post_call):
                answer = await guard.async_post_call_success_hook(request, caller, answer)
    except Exception as refused:
        return {"refused": f"{type(refused).__name__}: {refused}"}
    finally:
        for guard in guards:
            await guard._close_http_session()
    return {"sent": sent, "answer": answer.choices[0].message.content}


def main() -> None:
    """Answer the cases."""
    print(json.dumps([asyncio.run(serve(case)) for case in json.load(sys.stdin)]))


if __name__ == "__main__":
    main()
