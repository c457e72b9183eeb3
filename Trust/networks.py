# SPDX-License-Identifier: Apache-2.0
"""The networks that nobody may be led to, for the kernel's count in Trust/lures.py: out of the library's own table
(Sources/DirectDNS/Policy/SpecialPurposeNetworks.swift), which the tests hold to IANA's registries, so that no row is missed.

Which network an address lies in is decided by the kernel here, and not by the library.
"""

import ipaddress
import os
import re

TABLE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Sources", "DirectDNS", "Policy",
                     "SpecialPurposeNetworks.swift")
TEXT = r'"(?:\\.|[^"\\])*"'
ROW = re.compile(rf'\bRow\(\s*"([^"]+)",\s*{TEXT},\s*{TEXT},\s*(true|false|nil)(?:,\s*\.(\w+))?')


def rows():
    """Each network of the table, and what becomes of it: allowed, forbidden, or embedded (the IPv4 address inside decides)."""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    found = [(ipaddress.ip_network(network), verdict or ("allowed" if reach == "true" else "forbidden"))
             for network, reach, verdict in ROW.findall(text)]
    if len(found) != len(re.findall(r"\bRow\(", text)) or len(found) < 60:
        raise SystemExit(f"{TABLE}: not every row can be read")
    return found


def forbidden():
    """An address in each forbidden network of IPv4: its first one, but where that is the network itself."""
    return [str(network[min(1, network.num_addresses - 1)]) for network, verdict in rows()
            if network.version == 4 and verdict == "forbidden"]


def rules():
    """The rules of nft by which what goes to forbidden networks goes to the chain `judged`: the longest prefix decides."""
    found = rows()
    ipv4 = [(network, verdict) for network, verdict in found if network.version == 4]
    for outer in [network for network, verdict in found if verdict == "embedded"]:
        # IPv4 inside IPv6: each of its networks in there.
        base = int(outer.network_address)
        found += [(ipaddress.ip_network((base + int(inner.network_address), 96 + inner.prefixlen)), verdict)
                  for inner, verdict in ipv4]
    # ISATAP: the interface identifier has an IPv4 address to tunnel to (RFC 5214 §6.1), in any network.
    lines = ["ip6 daddr & ::fdff:ffff:0:0 == ::5efe:0:0 goto judged"]
    for network, verdict in sorted(found, key=lambda row: -row[0].prefixlen):
        family = "ip" if network.version == 4 else "ip6"
        lines.append(f"{family} daddr {network} {'goto judged' if verdict == 'forbidden' else 'accept'}")
    return lines
