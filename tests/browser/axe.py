"""What axe finds: the rules of WCAG 2.2 AA and its own best practice, whatever weight it gives to them."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe

SCRIPT = Axe().axe_script
OPTIONS = {
    "resultTypes": ["violations"],
    "selectors": False,  # the elements' HTML says where they are
    "rules": {"target-size": {"enabled": True}},  # of WCAG 2.2, off by itself
}

FINISH_ANIMATIONS = """
(scheme) => {
    document.getAnimations().forEach((each) => each.finish());
    return matchMedia(`(prefers-color-scheme: ${scheme})`).matches;
}
"""


def set_color_scheme(page: Any, scheme: str) -> None:
    """Show the page in "light" or "dark", its colors no longer on their way from one to the other."""
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(FINISH_ANIMATIONS, scheme), f"not shown in {scheme}"


def list_violations(page: Any, *rules: str) -> list[str]:
    """Rule by rule (of all, where none are named), the first places where it is broken; axe takes what could be
    unfolded for hidden."""
    page.evaluate("document.querySelectorAll('.page-section').forEach((section) => (section.open = true))")
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    options = OPTIONS | ({"runOnly": {"type": "rule", "values": rules}} if rules else {})
    violations = page.evaluate("(options) => axe.run(options).then((results) => results.violations)", options)
    return [f"{each['id']}: {[node['html'][:120] for node in each['nodes']][:3]}" for each in violations]
