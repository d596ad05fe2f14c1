"""What all pages have in common: everything is escaped, and nothing runs that the policy does not name."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator

import pytest
from jinja2 import DictLoader, UndefinedError

from referee.pages import environment
from referee.pages.environment import page, policy, static

MARKUP = "<script>alert(1)</script><b onclick='x'>\"&\x1b\u202e"

TEMPLATE = """{% extends "base.html" %}
{% block main %}<p id="plain">{{ text }}</p><p title="{{ text }}">{{ text|shown }}</p>{% endblock %}
{% block data %}<script type="application/json" id="data">{{ data|tojson }}</script>{% endblock %}"""


@pytest.fixture(autouse=True)
def with_a_template(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made = environment._environment()
    loader = made.loader
    assert loader
    base = loader.get_source(made, "base.html")[0]
    monkeypatch.setattr(made, "loader", DictLoader({"base.html": base, "test.html": TEMPLATE}))
    if made.cache is not None:
        made.cache.clear()
    yield
    if made.cache is not None:
        made.cache.clear()


def made(text: str = MARKUP, data: object = None) -> str:
    return page("test.html", title=text, text=text, data=data)


def test_text_cannot_become_an_element_or_an_attribute() -> None:
    html = made()
    assert "<script>alert" not in html and "<b " not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;&lt;b onclick=&#39;x&#39;&gt;") == 5
    assert "\\x1b\\u202e</p>" in html


def test_data_cannot_end_its_element() -> None:
    html = made(data={"a": "</script><!--" + MARKUP})
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert block and "<" not in block[1]
    assert json.loads(block[1]) == {"a": "</script><!--" + MARKUP}


def test_the_policy_names_the_script_and_the_stylesheet_and_allows_nothing_else() -> None:
    html = made()
    assert html.count("<script>") == html.count("<style>") == 1
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
    rules = dict(rule.split(" ", 1) for rule in found.replace("&#39;", "'").split("; "))
    assert rules.keys() == {
        "default-src",
        "script-src",
        "style-src",
        "img-src",
        "base-uri",
        "form-action",
    }
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    for element in ("script", "style"):
        (text,) = re.findall(f"<{element}>(.*?)</{element}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{element}-src"] == f"'sha256-{digest}'"
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_a_page_that_is_served_may_ask_its_server() -> None:
    assert policy("", "", connects=True) == policy("", "") + "; connect-src 'self'"


def test_a_script_that_would_end_its_element_is_refused() -> None:
    for text in ("'</script>'", "'<!--'"):
        with pytest.raises(ValueError, match="in a stylesheet or script"):
            page("test.html", title="", scripts=[text], text="", data=None)


def test_a_variable_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        page("test.html", title="")


def test_no_page_names_an_address_that_would_be_loaded() -> None:
    for name in ("base.css", "theme.js"):
        assert not re.search(r"https?:|url\(|@import|\beval\b|innerHTML|Function\(", static(name))


def test_previews_have_a_title_and_a_text() -> None:
    html = page("test.html", title="ant – bee", description=f"ant won {MARKUP}", text="", data=None)
    found = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', html))
    assert found["title"] == "ant – bee" and found["description"].startswith("ant won &lt;script&gt;")
    assert "og:" not in page("test.html", title="t", text="", data=None), "a page without an answer has none"
