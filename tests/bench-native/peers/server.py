"""The official Python package on uvicorn: prints the port."""

import socket
from typing import TypedDict

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("bench", version="1.0.0", log_level="WARNING")


class Sum(TypedDict):
    sum: int


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two integers."""
    return {"sum": a + b}


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
app = server.streamable_http_app(json_response=True, stateless_http=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
