"""The network a request comes from, for rate limits of unauthenticated clients."""

from ipaddress import IPv6Address, ip_address
from typing import Any


def get_client_network(request: Any) -> str:
    """Return the client's IPv4 address, or the /64 network of its IPv6 address, since one client has all
    addresses in it.
    """
    text = str(request.META.get("REMOTE_ADDR", ""))
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if not isinstance(address, IPv6Address):
        return text
    return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
