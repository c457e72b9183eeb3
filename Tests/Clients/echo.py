#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A WebSocket server on 127.0.0.1 that sends back what it gets: echo.py PORT SECURE-PORT CHAIN KEY"""

import asyncio
import ssl
import sys

from aiohttp import web


async def echo(request):
    socket = web.WebSocketResponse(max_msg_size=0)
    await socket.prepare(request)
    async for message in socket:
        if message.type == web.WSMsgType.TEXT:
            await socket.send_str(message.data)
        else:
            await socket.send_bytes(message.data)
    return socket


async def main():
    port, secure_port, chain, key = sys.argv[1:]
    secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secure.load_cert_chain(chain, key)
    site = web.Application()
    site.add_routes([web.get("/", echo)])
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(port)).start()
    await web.TCPSite(runner, "127.0.0.1", int(secure_port), ssl_context=secure).start()
    await asyncio.Event().wait()


asyncio.run(main())
