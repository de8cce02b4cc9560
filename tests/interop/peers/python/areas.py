"""What every Python client does in each area of the table."""

import asyncio

NOTE = "note://today"
PATIENCE = 30


def answer(message):
    """How the client answers a form."""
    if message == "Who are you?":
        return {"action": "accept", "content": {"name": "Ada"}}
    return {"action": "decline"}


def wire(result):
    """A result as it is on the wire."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def same(found, wanted):
    assert found == wanted, f"{found!r} in place of {wanted!r}"


async def report(area, run):
    """Does something, and prints how it went."""
    try:
        await asyncio.wait_for(run(), PATIENCE)
        print(f"{area}: passed", flush=True)
    except TimeoutError:
        print(f"{area}: nothing came of it in {PATIENCE} s", flush=True)
    except Exception as error:
        print(f"{area}: {type(error).__name__} {error}".replace("\n", " "), flush=True)


async def areas(client, version, negotiate, error_type, reference, subscribe, give_up):
    """Goes through all areas and prints a line for each.

    `negotiate` gives the version and what the server says of itself; `reference` is to the template of days; `subscribe` is a context that hears of the note and
    gives what waits for its change; `give_up` ends a call.
    """

    async def call(name, arguments=None, **options):
        return wire(await client.call_tool(name, arguments or {}, **options))

    async def say(name, arguments=None, **options):
        result = await call(name, arguments, **options)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    async def negotiation():
        negotiated, capabilities, name, instructions = negotiate()
        same(negotiated, version)
        for part in ("tools", "resources", "prompts"):
            assert part in wire(capabilities), f"no {part}"
        same(name, "interop")
        same(instructions, "A server for tests.")

    async def tools():
        tools = {tool["name"]: tool for tool in wire(await client.list_tools())["tools"]}
        for name in ("echo", "add", "fail", "count", "wait", "waited", "greet", "ask_model", "touch"):
            assert name in tools, f"no {name} among {list(tools)}"
        message = "grüße \u2028 😀"
        same(await say("echo", {"message": message}), message)
        same((await call("add", {"a": 2, "b": 40}))["structuredContent"], {"sum": 42})
        assert "outputSchema" in tools["add"], "no output schema"
        sums = await asyncio.gather(*(call("add", {"a": a, "b": 1}) for a in range(50)))
        same([each["structuredContent"]["sum"] for each in sums], list(range(1, 51)))
        failed = await call("fail")
        assert failed["isError"] and "as it was asked to" in failed["content"][0]["text"], failed
        try:
            missing = await call("missing")
            assert missing.get("isError"), missing
        except error_type as error:
            # The specification wants an error; some say it in a result.
            assert isinstance(error.error.code, int)

    async def resources():
        same([each["uri"] for each in wire(await client.list_resources())["resources"]], [NOTE])
        templates = wire(await client.list_resource_templates())["resourceTemplates"]
        same([each["uriTemplate"] for each in templates], ["day://{name}"])
        for uri, text in ((NOTE, "Water the plants."), ("day://friday", "It is friday.")):
            contents = wire(await client.read_resource(uri))["contents"]
            same((contents[0]["uri"], contents[0]["text"]), (uri, text))
        try:
            never = await client.read_resource("note://never")
        except error_type as error:
            assert isinstance(error.error.code, int)
        else:
            raise AssertionError(f"a resource that is not there: {never}")

    async def prompts():
        prompts = wire(await client.list_prompts())["prompts"]
        same([prompt["name"] for prompt in prompts], ["summary"])
        same(prompts[0]["arguments"][0]["name"], "topic")
        messages = wire(await client.get_prompt("summary", {"topic": "trees"}))["messages"]
        same(messages[0]["content"]["text"], "Summarise trees.")

    async def completion():
        completed = wire(await client.complete(reference, {"name": "name", "value": "t"}))
        same(completed["completion"]["values"], ["tuesday"])

    async def progress():
        steps = []

        async def told(progress, total, message):
            steps.append((progress, total))

        same(await say("count", {"steps": 3}, progress_callback=told), "counted to 3")
        same(steps, [(1, 3), (2, 3), (3, 3)])

    async def cancellation():
        started = asyncio.Event()

        async def told(progress, total, message):
            started.set()

        waiting = asyncio.create_task(call("wait", progress_callback=told))
        await asyncio.wait([waiting, asyncio.create_task(started.wait())], return_when=asyncio.FIRST_COMPLETED)
        assert not waiting.done(), f"the wait ended by itself: {waiting}"
        await give_up(waiting)
        await asyncio.gather(waiting, return_exceptions=True)
        for _ in range(200):
            if await say("waited") == "1":
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the handler did not see it")

    async def elicitation():
        same(await say("greet", {"question": "Who are you?"}), "Hello, Ada.")
        same(await say("greet", {"question": "May I know?"}), "Hello, stranger.")

    async def sampling():
        same(await say("ask_model"), "The model oak says: Trees.")

    async def subscription():
        async with subscribe(NOTE) as updated:
            same(await say("touch"), "touched")
            await asyncio.wait_for(updated(), 5)

    await report("negotiate", negotiation)
    for area in (tools, resources, prompts, completion, progress, cancellation, elicitation, sampling, subscription):
        await report(area.__name__, area)
