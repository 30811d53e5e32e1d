"""What an entry of `mcp.json` says of how its server is authorized: its key `oauth`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from infospace.data.paths import nearest

Grant: TypeAlias = Literal["authorization_code", "client_credentials", "identity_assertion"]
SecretMethod: TypeAlias = Literal["client_secret_basic", "client_secret_post"]
GRANTS: tuple[str, ...] = get_args(Grant)
METHODS: tuple[str, ...] = get_args(SecretMethod)
HIGHEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """How to be authorized; without any of it a person signs in, and the client registers itself.

    `client_id` is that of a client that was registered before; `client_metadata_url` is an id that is the HTTPS address
    of the client's metadata. `issuer` is the authorization server that these belong to; any other is refused then.
    """

    grant: Grant = "authorization_code"
    client_id: str = ""
    client_secret: str = ""
    client_metadata_url: str = ""
    issuer: str = ""
    token_endpoint_auth_method: SecretMethod = "client_secret_basic"  # noqa: S105 - the name of a method
    private_key: str = ""
    """A private key in PEM, with which the client signs who it is."""
    signing_algorithm: str = "RS256"
    redirect_port: int = 0
    """The port on loopback that the browser is sent back to; 0 takes any."""
    idp_token_endpoint: str = ""
    """Where the identity provider exchanges `id_token` for an assertion."""
    idp_client_id: str = ""
    id_token: str = ""

    def secrets(self) -> tuple[str, ...]:
        """What nobody is to read."""
        return tuple(text for text in (self.client_secret, self.private_key, self.id_token) if text)

    def filled(self, fill: Callable[[str], str]) -> OAuthSettings:
        """Return the settings with every text filled in."""
        filled: dict[str, Any] = {
            field.name: fill(getattr(self, field.name)) for field in fields(self) if field.type == "str"
        }
        return replace(self, **filled)

    def described(self) -> dict[str, Any]:
        """Return all of it, to be digested with the entry."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


_NEEDED: Mapping[str, tuple[str, ...]] = {
    "authorization_code": (),
    "client_credentials": ("client_id", "issuer"),
    "identity_assertion": (
        *("client_id", "client_secret", "issuer"),
        *("idp_token_endpoint", "idp_client_id", "id_token"),
    ),
}
"""What each grant cannot do without."""


def faults_of(value: Any) -> Iterator[str]:
    """Iterate over what is wrong with `oauth`, in sentences that hold none of its values."""
    if value is False:
        return
    if not isinstance(value, Mapping):
        yield "'oauth' is an object, or false for none"
        return
    known = {field.name: field.type for field in fields(OAuthSettings)}
    for key, setting in value.items():
        if key not in known:
            near = nearest(key, known)
            hint = f"; did you mean {near!r}?" if near else f"; there are {', '.join(known)}"
            yield f"'oauth' has no key {key!r}{hint}"
        elif key == "grant" and setting not in GRANTS:
            yield f"'oauth.grant' is one of {', '.join(GRANTS)}"
        elif key == "token_endpoint_auth_method" and setting not in METHODS:
            yield f"'oauth.token_endpoint_auth_method' is one of {', '.join(METHODS)}"
        elif key == "redirect_port":
            if not isinstance(setting, int) or isinstance(setting, bool) or not 0 <= setting <= HIGHEST_PORT:
                yield "'oauth.redirect_port' is a port, or 0 for any"
        elif not isinstance(setting, str):
            yield f"'oauth.{key}' is a text"
    grant = value.get("grant", "authorization_code")
    lacking = [name for name in _NEEDED.get(grant if isinstance(grant, str) else "", ()) if not value.get(name)]
    if lacking:
        yield f"'oauth' with the grant {grant} needs {', '.join(lacking)}"
    if grant == "client_credentials" and not (value.get("client_secret") or value.get("private_key")):
        yield "'oauth' with the grant client_credentials needs client_secret or private_key"
    address = value.get("client_metadata_url")
    if isinstance(address, str) and address and not address.startswith(("https://", "${")):
        yield "'oauth.client_metadata_url' is an https:// address"
