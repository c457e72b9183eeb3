#!/usr/bin/env python3
"""Fetches URLs with requests, straight from the addresses that dnsctl finds for their names.

    direct_fetch.py [--ca FILE] URL…

`dnsctl rewrite -` stays open beside this program: a request for a name goes in, the same request for an address comes
out. One dnsctl for all of them remembers its answers. Who is asked and which addresses are allowed stands in dnsctl's
configuration file or its environment. Made for Python 3.10, requests 2.28 and urllib3 1.26, and later ones.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

import requests
from requests.adapters import HTTPAdapter


class Coprocess:
    """A program that answers each line of JSON with one. It serves one thread at a time."""

    def __init__(self, *command: str) -> None:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        assert process.stdin and process.stdout
        self._process, self._questions, self._answers = process, process.stdin, process.stdout

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        # Without the flush the question would wait in a buffer, and this program for its answer.
        print(json.dumps(question), file=self._questions, flush=True)
        answer = self._answers.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args} ended with status {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        self._questions.close()
        self._process.wait()


class ServerNameAdapter(HTTPAdapter):
    """Sends and verifies a name, although the URL holds an address.

    Left alone urllib3 sends no SNI for an address, gets whatever certificate the server has for such callers, and looks
    for the address in it. `server_hostname` is the name to send and to look for instead. Its sibling `assert_hostname`
    (and so requests_toolbelt's HostHeaderSSLAdapter) is only looked for: a server of many names needs SNI as well.
    `verify=False` is no way out: it takes any certificate of anybody.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, server_hostname=self._name, **options)


class DirectClient:
    """Sends requests to the addresses of their names."""

    def __init__(self, ca: str | None = None) -> None:
        self._ca = ca
        self._rewriter = Coprocess("dnsctl", "rewrite", "-")
        self._sessions: dict[str | None, requests.Session] = {}

    def get(self, url: str) -> requests.Response:
        direct = self._rewriter.ask({"url": url})
        # What is bypassed would be looked up by requests itself, and no policy would judge where that leads.
        if direct["outcome"] != "rewritten":
            raise requests.exceptions.InvalidURL(direct["reason"])
        # `originalUrl` is for whoever restores the response: a server has no business with it.
        headers = {name: value for name, value in direct["headers"] if name != "originalUrl"}
        # No redirects: the next request is another one, to be rewritten and judged anew.
        response = self._session(direct["serverName"]).get(
            direct["url"], headers=headers, timeout=10, allow_redirects=False)
        response.url = direct["originalUrl"]
        return response

    def _session(self, server_name: str | None) -> requests.Session:
        """A session for each name of https: names that share an address must not share a connection."""
        if server_name not in self._sessions:
            session = requests.Session()
            # No proxy from the environment: it would have to connect to the address. (Nor .netrc, REQUESTS_CA_BUNDLE.)
            session.trust_env = False
            session.verify = self._ca or True
            if server_name:
                session.mount("https://", ServerNameAdapter(server_name))
            self._sessions[server_name] = session
        return self._sessions[server_name]

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._rewriter.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetch URLs straight from the addresses of their names.")
    parser.add_argument("--ca", metavar="FILE", help="authorities to trust (PEM), instead of the system's")
    parser.add_argument("url", nargs="+")
    options = parser.parse_args()
    client = DirectClient(options.ca)
    status = 0
    for url in options.url:
        try:
            response = client.get(url)
            print(response.status_code, response.url)
            print(response.text, end="")
        except requests.exceptions.RequestException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            status = 1
    client.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
