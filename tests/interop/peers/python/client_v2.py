"""The official Python package, 2.3, as a client: `client_v2.py <stdio|http|sse> <version> <program and arguments, or address>`"""

import asyncio
import sys
from contextlib import asynccontextmanager

from areas import answer, areas, report
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import CreateMessageResult, ElicitResult, ResourceTemplateReference, ResourceUpdatedNotification, TextContent


async def elicit(context, params):
    return ElicitResult(**answer(params.message))


async def sample(context, params):
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Trees."), model="oak")


async def main(transport, version, target, *arguments):
    servers = {
        "stdio": lambda: StdioServerParameters(command=target, args=arguments),
        "http": lambda: target,
        "sse": lambda: sse_client(target),
    }
    server = servers[transport]()
    days = ResourceTemplateReference(type="ref/resource", uri="day://{name}")
    modern = version >= "2026"
    changed = asyncio.Event()

    async def heard(message):
        if isinstance(message, ResourceUpdatedNotification):
            changed.set()

    @asynccontextmanager
    async def subscribe(uri):
        if modern:
            async with client.listen(resource_subscriptions=[uri]) as subscription:
                yield subscription.__anext__
        else:
            await client.subscribe_resource(uri)
            yield changed.wait
            await client.unsubscribe_resource(uri)

    async def give_up(call):
        call.cancel()

    def negotiate():
        info = client.server_info
        return client.protocol_version, client.server_capabilities, info and info.name, client.instructions

    client = Client(
        server,
        # A client that is told the modern version asks for nothing before, so it would know no name.
        mode="auto" if modern else "legacy",
        elicitation_callback=elicit,
        sampling_callback=sample,
        message_handler=heard,
        read_timeout_seconds=20,
    )
    try:
        await client.__aenter__()
    except Exception as error:
        fault = error

        async def failed():
            raise fault

        return await report("negotiate", failed)
    try:
        await areas(client, version, negotiate, MCPError, days, subscribe, give_up)
    finally:
        await client.__aexit__(None, None, None)


asyncio.run(main(*sys.argv[1:]))
