"""Chromium, and JupyterLab in it: for tests/test_browser.py and benchmarks/explorer.py"""
import json
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


MODEL = """class Model {
  constructor(state) { Object.assign(this, {state, heard: {}, own: {}}) }
  get(name) { return this.state[name] }
  fire(name, ...given) { for (const act of [...(this.heard[name] || [])]) act(...given) }
  on(names, act) { for (const name of names.split(' ')) (this.heard[name] ||= []).push(act) }
  off(names, act) { for (const name of names.split(' ')) this.heard[name] = (this.heard[name] || []).filter(other => other !== act) }
  take(state) {
    const changed = Object.keys(state).filter(name => JSON.stringify(state[name]) !== JSON.stringify(this.state[name]))
    Object.assign(this.state, state)
    for (const name of changed) this.fire(`change:${name}`)
  }
  set(name, value) { this.own[name] = value; this.take({[name]: value}) }
  async tell(what, content) {
    const {state, messages} = await toKernel(what, content)
    this.take(state)
    for (const message of messages) this.fire('msg:custom', message)
  }
  save_changes() { this.tell('state', this.own); this.own = {} }
  send(content) { this.tell('ask', content) }
}"""


def show_widget(page, widget):
    "Show a widget on an empty page: its kernel is this process, and what JupyterLab does between the two is done in a few lines"
    changed, sent = {}, []
    shared = [name for name in widget.keys if not name.startswith("_") and name not in ("layout", "comm", "tabbable", "tooltip")]
    widget.observe(lambda change: changed.update({change["name"]: change["new"]}), shared)
    widget.send = lambda content, buffers=None: sent.append(content)

    def to_kernel(what, content):
        if what == "ask": widget._handle_custom_msg(content, [])
        else: widget.set_state(content)
        answer = json.loads(json.dumps(dict(state=changed, messages=sent), allow_nan=False))
        changed.clear()
        sent.clear()
        return answer

    page.expose_function("toKernel", to_kernel)
    page.set_content(f"<!DOCTYPE html><html lang='en'><title>widget</title><style>{widget._css} body {{margin: 0}}</style><body><div id='here'></div></body>")
    page.evaluate("""async ([script, model, state]) => {
      const {default: widget} = await import(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})))
      widget.render({model: new (eval(`(${model})`))(state), el: document.getElementById('here')})
    }""", [widget._esm, MODEL, {name: getattr(widget, name) for name in shared}])


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
