#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git's own server on 127.0.0.1, by http and by https: repository.py FOLDER PORT SECURE-PORT CHAIN KEY

It serves the bare repositories of the folder by git-http-backend(1), to read and to write.
"""

import asyncio
import os
import ssl
import sys

from aiohttp import web

PIECE = 1 << 16


async def serve(request):
    fields = {"GIT_PROTOCOL": "Git-Protocol", "CONTENT_TYPE": "Content-Type", "HTTP_CONTENT_ENCODING": "Content-Encoding"}
    environment = {
        "PATH": os.environ["PATH"], "HOME": request.app["folder"], "GIT_PROJECT_ROOT": request.app["folder"],
        "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "ada", "REMOTE_ADDR": request.remote,
        "REQUEST_METHOD": request.method, "PATH_INFO": request.path, "QUERY_STRING": request.query_string,
        **{name: request.headers[field] for name, field in fields.items() if field in request.headers}}
    backend = await asyncio.create_subprocess_exec(
        "git", "http-backend", env=environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)

    async def feed():
        async for piece in request.content.iter_chunked(PIECE):
            backend.stdin.write(piece)
            await backend.stdin.drain()
        backend.stdin.close()

    feeding = asyncio.create_task(feed())
    response = web.StreamResponse()
    while line := (await backend.stdout.readline()).strip():
        name, value = line.decode().split(": ", 1)
        if name == "Status":
            response.set_status(int(value.split()[0]))
        else:
            response.headers[name] = value
    await response.prepare(request)
    while piece := await backend.stdout.read(PIECE):
        await response.write(piece)
    await feeding
    await backend.wait()
    return response


async def main():
    folder, port, secure_port, chain, key = sys.argv[1:]
    secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secure.load_cert_chain(chain, key)
    # What git has packed it has deflated once: aiohttp must not undo it.
    site = web.Application(client_max_size=1 << 40)
    site["folder"] = folder
    site.add_routes([web.route("*", "/{path:.*}", serve)])
    runner = web.AppRunner(site, auto_decompress=False)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(port)).start()
    await web.TCPSite(runner, "127.0.0.1", int(secure_port), ssl_context=secure).start()
    await asyncio.Event().wait()


asyncio.run(main())
