"""The first line of the official Python package, 1.30, as a client:
`client_v1.py <stdio|http|sse> <version> <program and arguments, or address>`"""

import asyncio
import sys
from contextlib import asynccontextmanager

from areas import answer, areas, report
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    CreateMessageResult,
    ElicitResult,
    ProgressNotification,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    ServerNotification,
    TextContent,
)


async def elicit(context, params):
    return ElicitResult(**answer(params.message))


async def sample(context, params):
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Trees."), model="oak")


@asynccontextmanager
async def streams(transport, target, arguments):
    if transport == "stdio":
        async with stdio_client(StdioServerParameters(command=target, args=arguments)) as (read, write):
            yield read, write
    elif transport == "sse":
        async with sse_client(target) as (read, write):
            yield read, write
    else:
        async with streamable_http_client(target) as (read, write, _):
            yield read, write


async def main(transport, version, target, *arguments):
    changed = asyncio.Event()
    progressing = None

    async def heard(message):
        nonlocal progressing
        match message:
            case ServerNotification(root=ResourceUpdatedNotification()):
                changed.set()
            case ServerNotification(root=ProgressNotification(params=params)):
                progressing = params.progressToken

    async with streams(transport, target, arguments) as (read, write):
        callbacks = {"elicitation_callback": elicit, "sampling_callback": sample, "message_handler": heard}
        async with ClientSession(read, write, **callbacks) as session:

            @asynccontextmanager
            async def subscribe(uri):
                await session.subscribe_resource(uri)
                yield changed.wait
                await session.unsubscribe_resource(uri)

            async def give_up(call):
                # This client tells nobody that a call was given up. It takes the request's id for its progress token.
                params = CancelledNotificationParams(requestId=progressing)
                await session.send_notification(ClientNotification(CancelledNotification(params=params)))
                call.cancel()

            try:
                opened = await session.initialize()
            except Exception as error:
                fault = error

                async def failed():
                    raise fault

                return await report("negotiate", failed)
            days = ResourceTemplateReference(type="ref/resource", uri="day://{name}")
            said = (opened.protocolVersion, opened.capabilities, opened.serverInfo.name, opened.instructions)
            await areas(session, version, lambda: said, McpError, days, subscribe, give_up)


asyncio.run(main(*sys.argv[1:]))
