#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches URLs one after the other, with the cookies that they set.

    fetch.py [--ca FILE] URL…
"""

import argparse
import sys

import requests

from direct_client import DirectClient


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
