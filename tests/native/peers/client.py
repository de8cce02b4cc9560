"""The official Python client against our server.

`client.py <stdio|http|sse> <legacy|modern> <program or address>`
"""

import asyncio
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ResourceTemplateReference,
    TextContent,
)


async def elicit(context, params):
    assert params.message == "Who are you?", params
    return ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    assert params.messages[0].content, params
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Trees."), model="oak")


async def converse(client, era):
    assert (client.protocol_version == "2026-07-28") == (era == "modern"), client.protocol_version
    assert client.server_info is None or client.server_info.name == "native-server"
    # A client that was told the version has asked for nothing before.
    assert client.instructions == ("A server for tests." if era == "legacy" else None)

    names = [tool.name for tool in (await client.list_tools()).tools]
    assert {"echo", "add", "slow", "hello", "ask_model"} <= set(names), names

    async def text(name, arguments=None, **more):
        result = await client.call_tool(name, arguments or {}, **more)
        assert not result.is_error, result
        return result.content[0].text

    assert await text("echo", {"message": "grüße \u2028 😀"}) == "grüße \u2028 😀"
    result = await client.call_tool("add", {"a": 2, "b": 40})
    assert result.structured_content == {"sum": 42}, result
    result = await client.call_tool("add", {"a": "two"})
    assert result.is_error, result

    steps = []

    async def progress(progress, total, message):
        steps.append((progress, total, message))

    said = await text("slow", {"steps": 3, "pause": 10}, progress_callback=progress)
    assert said == "3 steps done", said
    assert steps == [(n, 3, f"step {n}") for n in (1, 2, 3)], steps

    given_up = asyncio.create_task(client.call_tool("slow", {"steps": 1000, "pause": 20}, progress_callback=progress))
    while len(steps) < 5:
        await asyncio.sleep(0.01)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    for _ in range(500):
        if await text("given_up") == "1":
            break
        await asyncio.sleep(0.01)
    else:
        raise AssertionError("the server did not hear that a call was given up")

    assert await text("hello") == "Hello, Ada."
    assert await text("ask_model") == "The model oak answered."
    sums = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": 1}) for n in range(50)))
    assert [each.structured_content["sum"] for each in sums] == list(range(1, 51))

    try:
        await client.call_tool("panics", {})
        raise AssertionError("a handler that panics is an error")
    except MCPError as error:
        assert error.error.code == -32603, error

    assert [resource.uri for resource in (await client.list_resources()).resources] == ["note://today"]
    assert (await client.read_resource("note://today")).contents[0].text == "Water the plants."
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["day://{name}"]
    assert (await client.read_resource("day://friday")).contents[0].text == "It is friday."
    reference = ResourceTemplateReference(type="ref/resource", uri="day://{name}")
    completion = await client.complete(reference, {"name": "name", "value": "t"})
    assert completion.completion.values == ["tuesday"], completion
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["summary"]
    prompt = await client.get_prompt("summary", {"topic": "trees"})
    assert prompt.messages[0].content.text == "Summarise trees.", prompt


async def main(transport, era, target):
    server = {
        "stdio": lambda: StdioServerParameters(command=target, args=["stdio"]),
        "http": lambda: target,
        "sse": lambda: sse_client(target),
    }[transport]()
    options = {"elicitation_callback": elicit, "sampling_callback": sample, "read_timeout_seconds": 20}
    for mode in ["legacy"] if era == "legacy" else ["2026-07-28", "auto"]:
        async with Client(server, mode=mode, **options) as client:
            if mode == "auto":
                assert client.instructions == "A server for tests."
                assert client.protocol_version == "2026-07-28", client.protocol_version
                assert (await client.call_tool("add", {"a": 1, "b": 1})).structured_content == {"sum": 2}
            else:
                await converse(client, era)
    print("done")


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 50))
