"""Bearer tokens, good and bad, each for a configuration: claim by claim, header by header, form by form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

URL = "sasl.oauthbearer.jwks.endpoint.url"
AUDIENCE = "sasl.oauthbearer.expected.audience"
ISSUER = "sasl.oauthbearer.expected.issuer"
SKEW = "sasl.oauthbearer.clock.skew.seconds"
SUB = "sasl.oauthbearer.sub.claim.name"
SCOPE = "sasl.oauthbearer.scope.claim.name"
SKEW_MS = "unsecuredValidatorAllowableClockSkewMs"
PRINCIPAL = "unsecuredValidatorPrincipalClaimName"
UNSECURED_SCOPE = "unsecuredValidatorScopeClaimName"
REQUIRED_SCOPE = "unsecuredValidatorRequiredScope"


class Now(int):
    """An offset from now in seconds, in a claim."""


class Case(NamedTuple):
    """One token for one configuration."""

    kind: str
    """signed or unsecured."""
    settings: tuple[tuple[str, str], ...]
    header: Any
    claims: Any
    """A dict, or the very bytes."""
    key: str = "rsa"
    """What it is signed with."""
    text: str = "{}"
    """What is made of the compact form."""


RS256 = {"alg": "RS256", "kid": "rsa"}
NONE = {"alg": "none"}
GOOD = {"sub": "erin", "iat": Now(-60), "exp": Now(600)}
ABSENT = object()
TIMES = {
    "absent": ABSENT,
    "null": None,
    "a text": "soon",
    "a number as text": "4000000000",
    "true": True,
    "a list": [1],
    "0": 0,
    "negative": -1,
    "long ago": Now(-3600),
    "a minute ago": Now(-60),
    "within the skew": Now(-10),
    "a moment ahead": Now(10),
    "a minute ahead": Now(70),
    "a quarter of an hour ahead": Now(1000),
    "an hour ahead": Now(3600),
    "a fraction": 4000000000.75,
    "huge": 10**20,
    "1e20": 1e20,
}
TEXTS = {
    "absent": ABSENT,
    "null": None,
    "empty": "",
    "blank": " \t",
    "padded": " erin ",
    "a number": 5,
    "true": True,
    "a list": ["erin"],
    "an object": {"a": 1},
    "a letter": "ü",
    "half a pair": "\ud800x",
    "a point": "a.b",
    "a no-break space": "\u00a0",
    "padded with a no-break space": "\u00a0erin",
    "a control character": "\x01",
}
AUDIENCES = {
    "absent": ABSENT,
    "null": None,
    "empty": "",
    "foreign": "them",
    "ours": "us",
    "no list": [],
    "foreign list": ["them"],
    "ours among others": ["them", "us"],
    "a number": 5,
    "numbers": [5],
    "null in a list": [None],
    "other case": "US",
    "one of two": "we",
    "an object": {"us": 1},
}
SCOPES = {
    "absent": ABSENT,
    "null": None,
    "a text": "a b",
    "empty": "",
    "blank": " ",
    "a list": ["a", "b"],
    "no list": [],
    "twice": ["a", "a"],
    "twice when trimmed": ["a", " a"],
    "an empty one": ["a", ""],
    "a null": ["a", None],
    "numbers": [1, 2],
    "a number": 5,
    "an object": {"a": 1},
    "ours": "read",
    "ours padded": [" read ", "x"],
}
HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "no alg": ({"kid": "rsa"}, "rsa"),
    "none": ({"alg": "none", "kid": "rsa"}, "none"),
    "none, signed": ({"alg": "none", "kid": "rsa"}, "rsa"),
    "no kid": ({"alg": "RS256"}, "rsa"),
    "null kid": ({"alg": "RS256", "kid": None}, "rsa"),
    "a number as kid": ({"alg": "RS256", "kid": 5}, "rsa"),
    "unknown kid": ({"alg": "RS256", "kid": "who"}, "rsa"),
    "another kid": ({"alg": "RS256", "kid": "marked"}, "rsa"),
    "no kid, another key": ({"alg": "RS256"}, "marked"),
    "empty kid": ({"alg": "RS256", "kid": ""}, "rsa"),
    "a stranger": ({"alg": "RS256", "kid": "rsa"}, "stranger"),
    "RS384": ({"alg": "RS384", "kid": "rsa"}, "rsa"),
    "RS512": ({"alg": "RS512", "kid": "rsa"}, "rsa"),
    "PS256": ({"alg": "PS256", "kid": "rsa"}, "rsa"),
    "ES256": ({"alg": "ES256", "kid": "ec"}, "ec"),
    "ES256 without kid": ({"alg": "ES256"}, "ec"),
    "EdDSA": ({"alg": "EdDSA", "kid": "ed"}, "ed"),
    "EdDSA without kid": ({"alg": "EdDSA"}, "ed"),
    "HS256 of the file": ({"alg": "HS256", "kid": "oct"}, "oct"),
    "HS256 without kid": ({"alg": "HS256"}, "oct"),
    "RS256 with an EC key": ({"alg": "RS256", "kid": "ec"}, "ec"),
    "ES256 with an RSA key": ({"alg": "ES256", "kid": "rsa"}, "rsa"),
    "marked": ({"alg": "RS256", "kid": "marked"}, "marked"),
    "marked as RS256": ({"alg": "RS512", "kid": "marked"}, "marked"),
    "for encryption": ({"alg": "RS256", "kid": "for encryption"}, "for encryption"),
    "for PS256": ({"alg": "RS256", "kid": "for PS256"}, "for PS256"),
    "for PS256, PS256": ({"alg": "PS256", "kid": "for PS256"}, "for PS256"),
    "a short key": ({"alg": "RS256", "kid": "short"}, "short"),
    "lower case": ({"alg": "rs256", "kid": "rsa"}, "rsa"),
    "an unknown alg": ({"alg": "XY", "kid": "rsa"}, "rsa"),
    "a number as alg": ({"alg": 5, "kid": "rsa"}, "rsa"),
    "critical": ({**RS256, "crit": ["a"], "a": 1}, "rsa"),
    "critical b64": ({**RS256, "crit": ["b64"], "b64": False}, "rsa"),
    "b64": ({**RS256, "b64": False}, "rsa"),
    "typ": ({**RS256, "typ": "at+jwt"}, "rsa"),
    "cty": ({**RS256, "cty": "JWT"}, "rsa"),
    "typ a number": ({**RS256, "typ": 5}, "rsa"),
    "critical is empty": ({**RS256, "crit": []}, "rsa"),
}
BODIES = {
    "no JSON": b"hello",
    "nothing": b"",
    "a list": b"[]",
    "null": b"null",
    "a text": b'"a"',
    "behind the end": b'{"sub":"erin","iat":1,"exp":4000000000} x',
    "spaces behind it": b'{"sub":"erin","iat":1,"exp":4000000000} \n',
    "a claim twice": b'{"sub":"erin","sub":"frank","iat":1,"exp":4000000000}',
    "NaN": b'{"sub":"erin","iat":NaN,"exp":4000000000}',
    "Infinity": b'{"sub":"erin","iat":1,"exp":Infinity}',
    "1e400": b'{"sub":"erin","iat":1,"exp":1e400}',
    "many digits": b'{"sub":"erin","iat":1,"exp":' + b"9" * 5000 + b"}",
    "no UTF-8": b'{"sub":"er\xffin","iat":1,"exp":4000000000}',
    "a byte order mark": b'\xef\xbb\xbf{"sub":"erin","iat":1,"exp":4000000000}',
    "single quotes": b"{'sub':'erin','iat':1,'exp':4000000000}",
    "a comment": b'{"sub":"erin",/* */"iat":1,"exp":4000000000}',
    "a comma too many": b'{"sub":"erin","iat":1,"exp":4000000000,}',
    "UTF-16": '{"sub":"erin","iat":1,"exp":4000000000}'.encode("utf-16-be"),
    "leading zero": b'{"sub":"erin","iat":01,"exp":4000000000}',
    "a control character": b'{"sub":"er\nin","iat":1,"exp":4000000000}',
    "deep": b'{"sub":"erin","iat":1,"exp":4000000000,"a":' + b"[" * 400 + b"]" * 400 + b"}",
    "names without quotes": b'{sub:"erin","iat":1,"exp":4000000000}',
    "a fraction": b'{"sub":"erin","iat":1.9,"exp":4000000000.9}',
    "an exponent": b'{"sub":"erin","iat":1e0,"exp":4e9}',
}
STANDARD = "{0} "
"""In base64's own alphabet, not that of URLs."""
ODD_LETTERS = {**GOOD, "a": "~~~???>>> ~~~???>>>  ~~~???>>>"}
"""In base64 it has - and _, or + and /."""
FORMS = {
    "two parts": "{1}.{2}",
    "four parts": "{0}.x",
    "an empty header": ".{2}.{3}",
    "an empty body": "{1}..{3}",
    "no signature": "{1}.{2}.",
    "padded": "{0}==",
    "padded once": "{0}=",
    "two points behind it": "{0}..",
    "a point behind it": "{0}.",
    "a point in front": ".{0}",
    "another letter behind it": "{0}A",
    "five parts": "a.b.c.d.e",
    "standard alphabet": "{0}+/",
    "a tilde": "{0}~",
}
ORDERS: dict[str, dict[str, Any]] = {
    "issued at its end": {"iat": Now(600)},
    "issued behind it": {"iat": Now(601)},
    "not before its end": {"exp": Now(15), "nbf": Now(15)},
    "not before a moment behind its end": {"exp": Now(15), "nbf": Now(16)},
    "ends and begins within the skew": {"exp": Now(-5), "nbf": Now(5)},
    "ends before it is issued, within the skew": {"exp": Now(20), "iat": Now(25)},
}
UNSECURED_HEADERS: dict[str, Any] = {
    "no alg": {"kid": "a"},
    "null alg": {"alg": None},
    "None": {"alg": "None"},
    "RS256": {"alg": "RS256"},
    "a list": [1],
    "typ": {"alg": "none", "typ": "JWT"},
}
ISSUERS = {**TEXTS, "right": "https://here", "right in a list": ["https://here"], "a slash": "https://here/"}
SETTINGS = {
    "": (),
    "audience": ((AUDIENCE, "us,we"),),
    "issuer": ((ISSUER, "https://here"),),
    "no skew": ((SKEW, "0"),),
    "sub": ((SUB, "name"),),
    "scope": ((SCOPE, "rights"),),
}
UNSECURED = {
    "": (),
    "skew": ((SKEW_MS, "30000"),),
    "principal": ((PRINCIPAL, "name"),),
    "required": ((REQUIRED_SCOPE, "read"),),
    "scope": ((UNSECURED_SCOPE, "rights"), (REQUIRED_SCOPE, "read")),
}


def cases() -> dict[str, Case]:
    """All of them by name."""
    return dict(_signed()) | dict(_unsecured())


def _with(claims: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**claims, **changes}.items() if value is not ABSENT}


def _signed() -> Iterator[tuple[str, Case]]:
    for settings, claim, values in (
        ("", "exp", TIMES),
        ("", "iat", TIMES),
        ("", "nbf", TIMES),
        ("no skew", "exp", TIMES),
        ("no skew", "nbf", TIMES),
        ("", "aud", AUDIENCES),
        ("audience", "aud", AUDIENCES),
        ("", "sub", TEXTS),
        ("sub", "name", TEXTS),
        ("", "iss", TEXTS),
        ("", "jti", TEXTS),
        ("", "scope", SCOPES),
        ("scope", "rights", SCOPES),
        ("scope", "scope", SCOPES),
    ):
        for name, value in values.items():
            yield (
                f"signed {settings}: {claim} {name}",
                Case("signed", SETTINGS[settings], RS256, _with(GOOD, **{claim: value})),
            )
    for name, value in ISSUERS.items():
        yield f"signed issuer: iss {name}", Case("signed", SETTINGS["issuer"], RS256, _with(GOOD, iss=value))
    for name, claims in ORDERS.items():
        yield f"signed : {name}", Case("signed", (), RS256, _with(GOOD, **claims))
    for claim in ("sub", "jti", "iss"):
        yield (
            f"signed sub: {claim} a number",
            Case("signed", SETTINGS["sub"], RS256, _with(GOOD, **{"name": "erin", claim: 5})),
        )
    for name, (header, key) in HEADERS.items():
        yield f"signed : header {name}", Case("signed", (), header, GOOD, key)
    for name, body in BODIES.items():
        yield f"signed : body {name}", Case("signed", (), RS256, body)
    for name, text in FORMS.items():
        yield f"signed : form {name}", Case("signed", (), RS256, GOOD, text=text)
    yield "signed : letters for URLs", Case("signed", (), RS256, ODD_LETTERS)
    yield "signed : letters of base64", Case("signed", (), RS256, ODD_LETTERS, text=STANDARD)


def _unsecured() -> Iterator[tuple[str, Case]]:
    for settings, claim, values in (
        ("", "exp", TIMES),
        ("", "iat", TIMES),
        ("", "nbf", TIMES),
        ("skew", "exp", TIMES),
        ("skew", "iat", TIMES),
        ("", "sub", TEXTS),
        ("principal", "name", TEXTS),
        ("", "scope", SCOPES),
        ("required", "scope", SCOPES),
        ("scope", "rights", SCOPES),
        ("", "aud", AUDIENCES),
    ):
        for name, value in values.items():
            claims = _with(GOOD, **{claim: value})
            yield f"unsecured {settings}: {claim} {name}", Case("unsecured", UNSECURED[settings], NONE, claims, "none")
    for name, header in UNSECURED_HEADERS.items():
        yield f"unsecured : header {name}", Case("unsecured", (), header, GOOD, "none")
    yield "unsecured : signed", Case("unsecured", (), NONE, GOOD)
    yield "unsecured : issued at its end", Case("unsecured", (), NONE, _with(GOOD, exp=Now(-60)), "none")
    for name, body in BODIES.items():
        yield f"unsecured : body {name}", Case("unsecured", (), NONE, body, "none")
    for name, text in FORMS.items():
        yield f"unsecured : form {name}", Case("unsecured", (), NONE, GOOD, "none", text)
    yield "unsecured : letters for URLs", Case("unsecured", (), NONE, ODD_LETTERS, "none")
    yield "unsecured : letters of base64", Case("unsecured", (), NONE, ODD_LETTERS, "none", STANDARD)
