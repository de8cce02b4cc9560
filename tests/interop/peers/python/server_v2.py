"""The official Python package, 2.3, as a server: `server_v2.py <stdio|http|sse>`"""

import socket
import sys
from typing import Annotated, TypedDict

import anyio
import uvicorn
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import Completion, CreateMessageResult, EmptyResult, SamplingMessage, SubscribeRequestParams, TextContent
from mcp_types import UnsubscribeRequestParams
from pydantic import BaseModel

NOTE = "note://today"
server = MCPServer("interop", version="1.0.0", instructions="A server for tests.", log_level="WARNING")
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


def ask(question: str) -> Elicit[Person]:
    return Elicit(question, Person)


@server.tool()
def greet(question: str, who: Annotated[ElicitationResult[Person], Resolve(ask)]) -> str:
    return f"Hello, {who.data.name if isinstance(who, AcceptedElicitation) else 'stranger'}."


def sample() -> Sample:
    question = SamplingMessage(role="user", content=TextContent(type="text", text="What grows?"))
    return Sample([question], max_tokens=100)


@server.tool()
def ask_model(answer: Annotated[CreateMessageResult, Resolve(sample)]) -> str:
    return f"The model {answer.model} says: {answer.content.text}"


@server.tool()
async def touch(context: Context) -> str:
    await context.notify_resource_updated(NOTE)
    if NOTE in subscribed:
        await context.session.send_resource_updated(NOTE)
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


async def subscribe(context, params):
    subscribed.add(str(params.uri))
    return EmptyResult()


async def unsubscribe(context, params):
    subscribed.discard(str(params.uri))
    return EmptyResult()


# What the legacy era has for this is offered by the server underneath only.
server._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
server._lowlevel_server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)

if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    listener = socket.create_server(("127.0.0.1", 0))
    sse = sys.argv[1] == "sse"
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/{'sse' if sse else 'mcp'}", flush=True)
    app = server.sse_app() if sse else server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
