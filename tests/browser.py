"""Chromium, and JupyterLab in it: for tests/test_browser.py and benchmarks/explorer.py"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

SETTINGS = {"notebook-extension/tracker": '{"windowingMode": "none"}',                                # cells off screen stay on the page
            "apputils-extension/notification": '{"checkForUpdates": false, "fetchNews": "false"}'}


class Missing(Exception):
    "What is missing, and how to get it"


@contextmanager
def chromium():
    "A Chromium without a window: the system's, else Playwright's own"
    try: from playwright.sync_api import Error, sync_playwright
    except ImportError: raise Missing("Playwright is not installed: pip install playwright") from None
    here = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    with sync_playwright() as playwright:
        try: browser = playwright.chromium.launch(executable_path=here, args=["--no-sandbox"])
        except Error as e: raise Missing("there is no Chromium: python -m playwright install chromium, or apt-get install chromium") from e
        yield browser
        browser.close()


@contextmanager
def page(browser, width=1280, height=900, **options):
    "An empty page; what goes wrong on it and what it asks for is noted in its lists `errors` and `requests`"
    context = browser.new_context(viewport=dict(width=width, height=height), accept_downloads=True, **options)
    page = context.new_page()
    page.errors, page.requests = [], []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: page.requests.append(request.url))
    yield page
    context.close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def jupyterlab(folder):
    "The address of a JupyterLab that sees a folder, with settings of its own"
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
        places = {f"JUPYTER_{kind}_DIR": f"{own}/{kind}" for kind in ("CONFIG", "DATA", "RUNTIME")}
        places |= {f"JUPYTERLAB_{kind}_DIR": f"{own}/{kind}" for kind in ("SETTINGS", "WORKSPACES")}
        for name, text in SETTINGS.items():
            file = Path(own, "SETTINGS", "@jupyterlab", f"{name}.jupyterlab-settings")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        env = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"} | places | dict(JUPYTER_PREFER_ENV_PATH="1")
        server = subprocess.Popen([sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password=", "--LabApp.expose_app_in_browser=True",
            f"--ServerApp.root_dir={folder}"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                if server.poll() is not None: raise Missing("JupyterLab does not start: pip install jupyterlab")
                with socket.socket() as s:
                    if s.connect_ex(("127.0.0.1", port)) == 0: break
                time.sleep(.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def open_notebook(page, address, name, theme=None):
    "Open a notebook and wait for its kernel"
    page.goto(f"{address}/lab/tree/{name}?reset")
    page.wait_for_selector(".jp-Notebook", timeout=90_000)
    page.wait_for_function("""() => { const panel = window.jupyterapp?.shell.currentWidget
        return panel?.sessionContext?.session?.kernel?.status == 'idle' }""", timeout=90_000)
    if theme: run_command(page, "apputils:change-theme", f"{{theme: '{theme}'}}")


def run_command(page, name, given="{}"):
    "Run a command of JupyterLab, to its end"
    page.evaluate(f"window.jupyterapp.commands.execute('{name}', {given})")


def output_errors(page):
    "The errors among the outputs of the notebook that is open"
    return page.evaluate("""() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
        .flatMap(cell => cell.type == 'code' ? cell.outputs.toJSON() : []).filter(o => o.output_type == 'error').map(o => o.evalue)""")


def still(locator):
    "Where something is on the screen once it neither moves nor grows any more"
    locator.scroll_into_view_if_needed()
    for _ in range(100):
        before = locator.bounding_box()
        locator.page.wait_for_timeout(200)
        if locator.bounding_box() == before: return before
    raise AssertionError("it moves on and on")
