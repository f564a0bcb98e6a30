"""HTML pages in headless Chromium: no serious finding of axe-core, nothing in the console, search and links work.

Usage: python .ci/browser.py FOLDER        pages and pictures go to FOLDER

Needs ``chromium`` (Debian's package), and ``axe-core`` from npm in FOLDER/node_modules; .ci/run installs them.
The browser is driven through its debugging pipe, so that nothing but Python's own library is needed here.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

IDS = ("W19-L2.4", "W19-T4.1", "W18-A2", "RW21-T6", "RW21-T10", "W19-FIG1")


class Browser:
    """Chromium behind a pipe: one tab at a time, what its console says, and answers to questions in JavaScript."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, os.fdopen(read, "rb", buffering=0)
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.said: list[str] = []

    def open(self, address: str, *, width: int = 1100, height: int = 1400, **media: str) -> None:
        """Open an address in a tab of its own, and wait until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = ""
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.said = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [
            {"name": name.replace("_", "-"), "value": value} for name, value in media.items() if name != "media"
        ]
        self.call("Emulation.setEmulatedMedia", media=media.get("media", ""), features=features)
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def ask(self, script: str) -> Any:
        """Return what an expression gives, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            told = answer["exceptionDetails"].get("exception", {}).get("description", "no description").splitlines()[0]
            raise RuntimeError(f"the page answered to {script[:80]!r} with {told}")
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 20.0) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.ask(script):
            if time.monotonic() > end:
                raise RuntimeError(f"the page never came to {script!r}")
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" else "")

    def picture(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the debugging protocol; what happens meanwhile in the console is kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == self._number:
                if "error" in heard:
                    raise RuntimeError(f"{method}: {heard['error']['message']}")
                result: dict[str, Any] = heard["result"]
                return result
            self._keep(heard)

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = self._read.read(1 << 20)
            if not more:
                raise RuntimeError("chromium went away")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def _keep(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            self.said.append(f"{told['entry']['level']}: {told['entry']['text']}")
        elif event.get("method") == "Runtime.exceptionThrown":
            self.said.append(f"exception: {told['exceptionDetails']['text']}")
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.said.append(f"console.{told['type']}")


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """Start Chromium, and end it."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("browser: chromium is not installed and could not be (apt-get install chromium)")
    there, back = os.pipe(), os.pipe()

    def wire() -> None:
        low, high = os.dup(there[0]), os.dup(back[1])
        os.dup2(low, 3)
        os.dup2(high, 4)

    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe")
    quiet = ("--no-first-run", "--disable-background-networking", "--disable-component-update", "--no-proxy-server")
    command = [
        program,
        *options,
        *quiet,
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'profile'}",
    ]
    with (folder / "chromium.log").open("wb") as log:
        running = subprocess.Popen(command, preexec_fn=wire, close_fds=False, stdout=log, stderr=log)
    os.close(there[0])
    os.close(back[1])
    try:
        yield Browser(there[1], back[0])
    finally:
        running.terminate()
        running.wait(20)


def axe(folder: Path) -> str:
    """Return the source of axe-core."""
    found = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not found.is_file():
        raise SystemExit(
            f"browser: axe-core is not in {found.parent} and could not be installed (npm install axe-core)"
        )
    return found.read_text(encoding="utf-8")


def findings(browser: Browser, source: str) -> list[str]:
    """Return the serious and critical findings of axe-core on the open page, one line each."""
    browser.ask(source + ";0")
    found = browser.ask("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    return [
        f"axe {each['impact']}: {each['id']}, {len(each['nodes'])} places, first {each['nodes'][0]['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def looks_right(browser: Browser, page: Path, source: str) -> list[str]:
    """Return what is wrong with a page in any of its looks; leave a picture of each."""
    looks: dict[str, dict[str, Any]] = {
        "light": {"prefers_color_scheme": "light"},
        "dark": {"prefers_color_scheme": "dark"},
        "phone": {"width": 420, "height": 900},
        "print": {"media": "print"},
    }
    wrong = []
    for name, look in looks.items():
        browser.open(page.as_uri(), **look)
        browser.picture(page.with_name(f"{page.stem}-{name}.png"))
        found = [] if name == "print" else findings(browser, source)
        if not browser.ask("document.querySelector('main')?.textContent.length > 1000"):
            found.append("the page is empty")
        if browser.ask("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append("the page can be moved sideways")
        wrong += [f"{page.name}, {name}: {line}" for line in (*found, *browser.said)]
    return wrong


def can_be_searched(browser: Browser, page: Path) -> list[str]:
    """Return what is wrong with the search, the permanent links and the page without its script."""
    wrong = []

    def expect(rule: str, script: str) -> None:
        if not browser.ask(script):
            wrong.append(f"{page.name}: {rule}")

    total = "document.querySelectorAll('main > article[data-verdict]').length"
    shown = "document.querySelectorAll('main > article:not([hidden])').length"
    hit = "document.querySelector('#page-hits a')?.textContent"
    browser.open(page.as_uri())
    browser.press("/")
    expect("/ does not lead to the search", "document.activeElement.id === 'page-words'")
    for key in "t4.1":
        browser.press(key)
    browser.wait("document.querySelectorAll('#page-hits a').length > 0")
    expect("a search for T4.1 does not list W19-T4.1 first", f"{hit} === 'W19-T4.1'")
    expect("a search leaves its words out of the address", "location.hash === '#?q=t4.1'")
    browser.open(page.as_uri() + "#?q=gaussian&verdict=refuted")
    expect("an address with a search finds nothing, or everything", f"{shown} > 0 && {shown} < {total}")
    refuted = (
        "[...document.querySelectorAll('main > article:not([hidden])')].every(a => a.dataset.verdict === 'refuted')"
    )
    expect("a filter shows something else", refuted)
    browser.ask("location.hash = '#W19-T4.1'")
    top = "document.getElementById('W19-T4.1').getBoundingClientRect().top"
    browser.wait(f"{top} > -20 && {top} < 300")
    browser.open(page.as_uri() + "#W19-T4.1")
    browser.wait(f"{top} > -20 && {top} < 300")
    dead = "[...document.querySelectorAll('a[href^=\\'#\\']')].filter(a => !document.getElementById("
    expect("a link leads nowhere", dead + "decodeURIComponent(a.hash.slice(1)))).length === 0")
    expect("the font of the formulas is not used", "document.fonts.check('16px Formulas')")
    wrong += [f"{page.name}: {line}" for line in browser.said]
    browser.open("about:blank")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.call("Page.navigate", url=page.as_uri())
    browser.wait("document.readyState === 'complete'")
    expect("without its script the page hides something", f"{shown} >= {total} && {total} > 0")
    expect("without its script the page shows a search", "document.getElementById('page-search').offsetHeight === 0")
    return wrong


def made(folder: Path) -> list[Path]:
    """Write the pages, and return them: a run first."""
    command = [str(Path(sys.executable).with_name("pdp-verify"))]
    run, certificate = folder / "run", folder / "certificate"
    shutil.rmtree(run, ignore_errors=True)
    shutil.rmtree(certificate, ignore_errors=True)
    subprocess.run(
        [*command, "run", *IDS, "--profile", "quick", "--out", str(run)], stdout=subprocess.DEVNULL, check=False
    )
    pages = []
    for name, words in (("audit.html", "report"), ("errata.html", "errata")):
        pages.append(folder / name)
        subprocess.run(
            [*command, words, str(run / "audit.jsonl"), "-o", str(pages[-1])], stdout=subprocess.DEVNULL, check=True
        )
    (folder / "example.toml").write_bytes(subprocess.run([*command, "init"], stdout=subprocess.PIPE, check=True).stdout)
    certify = [*command, "certify", str(folder / "example.toml"), "--jobs", "1", "--out", str(certificate)]
    subprocess.run(certify, stdout=subprocess.DEVNULL, check=True)
    pages.append(folder / "certificate.html")
    shutil.copyfile(certificate / "curator" / "audit.html", pages[-1])
    return pages


def main(folder: Path) -> int:
    """Make the pages, look at them, and say what is wrong; exit with 0 if nothing is."""
    folder.mkdir(parents=True, exist_ok=True)
    source, pages = axe(folder), made(folder)
    begun = time.monotonic()
    wrong = []
    with chromium(folder) as browser:
        try:
            wrong += [line for page in pages for line in looks_right(browser, page, source)]
            wrong += can_be_searched(browser, pages[0])
        except RuntimeError as stop:
            wrong.append(f"browser: {stop}")
    for page in pages:
        print(f"{page.name}: {page.stat().st_size:,} bytes")
    print(
        "\n".join(wrong)
        or f"no serious finding, nothing in the console, search works ({time.monotonic() - begun:.0f} s)"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]).resolve()))
