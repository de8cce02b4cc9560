"""The first line of the official Python package, 1.30, as a server: `server_v1.py <stdio|http|sse>`"""

import socket
import sys
from typing import TypedDict

import anyio
import uvicorn
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import AnyUrl, BaseModel

NOTE = "note://today"
server = FastMCP("interop", instructions="A server for tests.", log_level="WARNING")
subscribed = set()
given_up = 0


class Sum(TypedDict):
    sum: int


class Person(BaseModel):
    name: str


@server.tool()
def echo(message: str) -> str:
    return message


@server.tool()
def add(a: int, b: int) -> Sum:
    return {"sum": a + b}


@server.tool()
def fail() -> str:
    raise ToolError("as it was asked to")


@server.tool()
async def count(steps: int, context: Context) -> str:
    for step in range(1, steps + 1):
        await context.report_progress(step, steps, f"step {step}")
        await anyio.sleep(0.03)
    return f"counted to {steps}"


@server.tool()
async def wait(context: Context) -> str:
    global given_up
    await context.report_progress(1)
    try:
        await anyio.sleep_forever()
    finally:
        given_up += 1


@server.tool()
def waited() -> str:
    return str(given_up)


@server.tool()
async def greet(question: str, context: Context) -> str:
    who = await context.elicit(question, Person)
    return f"Hello, {who.data.name if who.action == 'accept' else 'stranger'}."


@server.tool()
async def ask_model(context: Context) -> str:
    question = SamplingMessage(role="user", content=TextContent(type="text", text="What grows?"))
    answer = await context.session.create_message(
        [question], max_tokens=100, related_request_id=context.request_id
    )
    return f"The model {answer.model} says: {answer.content.text}"


@server.tool()
async def touch(context: Context) -> str:
    if NOTE in subscribed:
        await context.session.send_resource_updated(AnyUrl(NOTE))
    return "touched"


@server.resource(NOTE)
def today() -> str:
    return "Water the plants."


@server.resource("day://{name}")
def day(name: str) -> str:
    return f"It is {name}."


@server.completion()
async def complete(ref, argument, context):
    days = ["monday", "tuesday"]
    return Completion(values=[day for day in days if day.startswith(argument.value)])


@server.prompt()
def summary(topic: str) -> str:
    return f"Summarise {topic}."


# What there is for subscriptions is offered by the server underneath only.
@server._mcp_server.subscribe_resource()
async def subscribe(uri):
    subscribed.add(str(uri))


@server._mcp_server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed.discard(str(uri))


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    listener = socket.create_server(("127.0.0.1", 0))
    sse = sys.argv[1] == "sse"
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if sse else 'mcp'}", flush=True)
    app = server.sse_app() if sse else server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
