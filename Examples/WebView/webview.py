#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A window with an embedded WebKitGTK that goes direct: its names are dnsctl's business, and all else the WebView's.

    webview.py [--warm NAME]… [--allow CIDR]… URL

`dnsctl exec` runs it beside a proxy of its own, which ends with it. The names of the start page, and those of --warm, are
looked up beforehand into a store on this machine's disk: the next start finds its pages when DNS is dead, too. Who is asked
stands in dnsctl's configuration file or its environment. Made for GTK 3 and WebKitGTK 2.40 (API 4.1), and later ones.
"""

import argparse
import os
import signal
import subprocess
import sys
import urllib.parse

# Names wait no longer for their lookup than a window may for its page: what the store knows is enough.
WARMUP_SECONDS = 3


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Show a page whose names are resolved by dnsctl.")
    parser.add_argument("--warm", action="append", default=[], metavar="NAME", help="a name that the page will need")
    parser.add_argument("--allow", action="append", default=[], metavar="CIDR", help="a network besides public ones")
    parser.add_argument("url", metavar="URL")
    return parser.parse_args()


def go_direct(chosen: argparse.Namespace) -> None:
    """Warms the names, and starts this program again behind a proxy of its own."""
    store = ["--store", os.environ.get("DIRECTDNS_STORE", "sqlite")]
    names = [urllib.parse.urlsplit(chosen.url).hostname or "", *chosen.warm]
    try:
        subprocess.run(["dnsctl", "warmup", *store, *filter(None, names)], timeout=WARMUP_SECONDS,
                       stdout=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        print("webview: DNS is slow; going on with what is known", file=sys.stderr)
    allowed = [word for network in chosen.allow for word in ("--allow", network)]
    os.execvp("dnsctl", ["dnsctl", "exec", *store, *allowed, "--", sys.executable, *sys.argv])


class Browser:
    """One window, one page at a time."""

    def __init__(self, url: str, proxy: str) -> None:
        # Not before http_proxy is in the environment: WebKit looks the names of <link rel=dns-prefetch> up without it.
        try:
            import gi

            gi.require_version("Gtk", "3.0")
            gi.require_version("WebKit2", "4.1")
        except (ImportError, ValueError) as error:
            sys.exit(f"{error}: on Debian, apt-get install python3-gi gir1.2-webkit2-4.1")
        from gi.repository import GLib, Gtk, WebKit2

        # A page that gave way to another one, to a download or to the user's wish: nothing has failed.
        self.given_up = [(WebKit2.NetworkError, WebKit2.NetworkError.CANCELLED),
                         (WebKit2.PolicyError, WebKit2.PolicyError.FRAME_LOAD_INTERRUPTED_BY_POLICY_CHANGE)]
        data = WebKit2.WebsiteDataManager()
        data.set_network_proxy_settings(WebKit2.NetworkProxyMode.CUSTOM, WebKit2.NetworkProxySettings.new(proxy, None))
        context = WebKit2.WebContext(website_data_manager=data)
        self.gtk = Gtk
        self.view = WebKit2.WebView(web_context=context)
        self.view.connect("load-failed", self.failed)
        self.bar = Gtk.HeaderBar(show_close_button=True, title="WebView")
        self.view.connect("notify::title", lambda view, _: self.bar.set_title(view.get_title() or "WebView"))
        self.view.connect("notify::uri", lambda view, _: self.bar.set_subtitle(view.get_uri()))
        back = Gtk.Button(label="Back")
        back.connect("clicked", lambda _: self.view.go_back())
        self.bar.pack_start(back)
        window = Gtk.Window(default_width=1000, default_height=700)
        window.set_titlebar(self.bar)
        window.add(self.view)
        window.connect("destroy", Gtk.main_quit)
        # dnsctl passes signals on to us, and ends when we do.
        for number in (signal.SIGINT, signal.SIGTERM):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, Gtk.main_quit)
        window.show_all()
        self.view.load_uri(url)

    def failed(self, view, _event, uri: str, error) -> bool:
        if any(error.matches(kind.quark(), code) for kind, code in self.given_up):
            return True
        # As text, and of no site: what the network says is not to run as the page that was asked for.
        print(f"webview: {uri}: {error.message}", file=sys.stderr)
        view.load_plain_text(f"{uri}\n\n{error.message}")
        return True

    def run(self) -> None:
        self.gtk.main()


def main() -> None:
    chosen = options()
    if "WEBVIEW_GOES_DIRECT" not in os.environ:
        os.environ["WEBVIEW_GOES_DIRECT"] = "1"
        go_direct(chosen)
    Browser(chosen.url, os.environ["http_proxy"]).run()


if __name__ == "__main__":
    main()
