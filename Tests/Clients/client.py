#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One request by one of Python's HTTP clients, written as its users write it.

    client.py requests|aiohttp|httpx get URL
    client.py requests|aiohttp|httpx put URL FILE
    client.py requests|aiohttp|httpx save URL FILE
    client.py httpx second URL
    client.py aiohttp socket URL

Prints the status and the body that came, or what the client says went wrong, and then ends with 1. Proxies come from the
environment, and the authority to trust from CA_FILE. `second` gets by HTTP/2, `socket` sends a text and a megabyte by WebSocket and wants both back.
"""

import asyncio
import os
import ssl
import sys

CA = os.environ["CA_FILE"]
PIECE = 1 << 18


def with_requests(verb, url, file=None):
    import requests

    if verb == "put":
        with open(file, "rb") as body:
            response = requests.put(url, data=body, verify=CA)
        return response.status_code, response.text
    response = requests.get(url, verify=CA, stream=True)
    if verb == "get":
        return response.status_code, response.text
    with open(file, "wb") as output:
        for piece in response.iter_content(PIECE):
            output.write(piece)
    return response.status_code, ""


def with_httpx(verb, url, file=None):
    import httpx

    with httpx.Client(verify=CA, http2=verb == "second") as client:
        if verb == "put":
            with open(file, "rb") as body:
                response = client.put(url, content=body)
            return response.status_code, response.text
        if verb in ("get", "second"):
            response = client.get(url)
            return response.status_code, response.text
        with client.stream("GET", url) as response, open(file, "wb") as output:
            for piece in response.iter_bytes(PIECE):
                output.write(piece)
        return response.status_code, ""


async def by_aiohttp(verb, url, file=None):
    import aiohttp

    secure = ssl.create_default_context(cafile=CA)
    # The environment counts only where it is asked for.
    async with aiohttp.ClientSession(trust_env=True) as session:
        if verb == "socket":
            async with session.ws_connect(url, ssl=secure, max_msg_size=0) as socket:
                large = os.urandom(1 << 20)
                await socket.send_str("hello")
                await socket.send_bytes(large)
                echoed = await socket.receive_str() == "hello" and await socket.receive_bytes() == large
                return 101, "echoed" if echoed else "changed"
        if verb == "put":
            with open(file, "rb") as body:
                async with session.put(url, data=body, ssl=secure) as response:
                    return response.status, await response.text()
        async with session.get(url, ssl=secure) as response:
            if verb == "get":
                return response.status, await response.text()
            with open(file, "wb") as output:
                async for piece in response.content.iter_chunked(PIECE):
                    output.write(piece)
            return response.status, ""


def with_aiohttp(*words):
    return asyncio.run(by_aiohttp(*words))


def main():
    client, *words = sys.argv[1:]
    try:
        status, body = {"requests": with_requests, "aiohttp": with_aiohttp, "httpx": with_httpx}[client](*words)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(1)
    print(status, body)


main()
