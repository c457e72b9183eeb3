# SPDX-License-Identifier: Apache-2.0
"""requests, going straight to the addresses that dnsctl finds for names.

`dnsctl rewrite -` and `dnsctl restore` stay open beside this program: a request for a name becomes one for an address,
and its response gets the name back. One dnsctl for all requests remembers its answers. Who is asked and which addresses
are allowed stands in dnsctl's configuration file or its environment. Redirects are followed; cookies live as long as
the program. Made for Python 3.10, requests 2.28 and urllib3 1.26, and later ones.
"""

import json
import subprocess
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar, create_cookie, get_cookie_header


class Coprocess:
    """A program that answers each line of JSON with one. It serves one thread at a time."""

    def __init__(self, *command: str) -> None:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        assert process.stdin and process.stdout
        self._name, self._process = " ".join(command), process
        self._questions, self._answers = process.stdin, process.stdout

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        # Without the flush the question would wait in a buffer, and this program for its answer.
        print(json.dumps(question), file=self._questions, flush=True)
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

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
        self._restorer = Coprocess("dnsctl", "restore")
        self._sessions: dict[str | None, requests.Session] = {}
        # By default Python sends a host's own cookies to the hosts below it, too.
        policy = DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain)
        self.cookies = RequestsCookieJar(policy)

    def get(self, url: str) -> requests.Response:
        # As many redirects as dnsctl fetch follows.
        for _ in range(1 + 20):
            response = self._get(url)
            # A blank Location leads nowhere.
            if not response.is_redirect or not response.headers["Location"].strip():
                return response
            # Another request, to be rewritten and judged anew: requests itself would follow unjudged.
            url = response.headers["Location"]
        raise requests.exceptions.TooManyRedirects(url)

    def _get(self, url: str) -> requests.Response:
        direct = self._rewriter.ask({"url": url})
        # What is bypassed would be looked up by requests itself, and no policy would judge where that leads.
        if direct["outcome"] != "rewritten":
            raise requests.exceptions.InvalidURL(direct["reason"])
        # `originalUrl` is for whoever restores the response: a server has no business with it.
        headers = {name: value for name, value in direct["headers"] if name != "originalUrl"}
        session = self._session(direct["serverName"])
        request = session.prepare_request(requests.Request("GET", direct["url"], headers))
        # They are chosen by `Host`, which has the name.
        if cookies := get_cookie_header(self.cookies, request):
            request.headers["Cookie"] = cookies
        response = session.send(request, timeout=10, allow_redirects=False)
        self._restore(response, direct)
        return response

    def _restore(self, response: requests.Response, direct: dict[str, Any]) -> None:
        """Puts the name back where the server wrote the address."""
        restored = self._restorer.ask({
            "originalUrl": direct["originalUrl"], "address": direct["addresses"], "status": response.status_code,
            "headers": list(response.raw.headers.items())})
        if restored["error"]:
            raise requests.exceptions.InvalidHeader(restored["error"]["message"])
        response.url = direct["originalUrl"]
        if restored["location"]:
            response.headers["Location"] = restored["location"]
        for found in restored["cookies"]:
            cookie = create_cookie(
                found["name"], found["value"], domain=("" if found["hostOnly"] else ".") + found["domain"],
                path=found["path"], secure=found["secure"], expires=found["expires"])
            cookie.domain_specified = not found["hostOnly"]
            self.cookies.set_cookie(cookie)

    def _session(self, server_name: str | None) -> requests.Session:
        """A session for each name of https: names that share an address must not share a connection."""
        if server_name not in self._sessions:
            session = requests.Session()
            # No proxy from the environment: it would have to connect to the address. (Nor .netrc, REQUESTS_CA_BUNDLE.)
            session.trust_env = False
            session.verify = self._ca or True
            # The client keeps the cookies, once they are restored.
            session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
            if server_name:
                session.mount("https://", ServerNameAdapter(server_name))
            self._sessions[server_name] = session
        return self._sessions[server_name]

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._rewriter.close()
        self._restorer.close()
