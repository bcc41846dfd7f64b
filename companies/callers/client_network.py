"""Where a request comes from, for budgets of callers who are not known yet."""

from ipaddress import IPv6Address, ip_address
from typing import Any


def get_client_network(request: Any) -> str:
    """Return the IPv4 address, or the /64 network of an IPv6 one: who has one address there has them all."""
    text = str(request.META.get("REMOTE_ADDR", ""))
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return text
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
