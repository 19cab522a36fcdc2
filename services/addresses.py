"""Which addresses of the internet a server may be asked to send to: global unicast ones, whatever form they come in.

Tables of our own, since what the language calls global differs between its versions and lets multicast pass.
Source: IANA's special-purpose address registries.
"""

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_GLOBAL = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_UNICAST = IPv6Network("2000::/3")
"""Outside of it lie loopback, mapped and translated IPv4 (::ffff:0:0/96, 64:ff9b::/96), private and link-local ones."""
_NOT_GLOBAL_UNICAST = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address in another coat
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def is_global(address: str) -> bool:
    """Tells whether an address is a global unicast one; false for what is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        return parsed in _UNICAST and not any(parsed in network for network in _NOT_GLOBAL_UNICAST)
    return not any(parsed in network for network in _NOT_GLOBAL)


def is_address(host: str) -> bool:
    """Tells whether a host is an address and no name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
