// SPDX-License-Identifier: Apache-2.0
/// Options of curl that `dnsctl fetch` does not have, and what to use instead.
enum CurlHints {
  /// In the order of the manual: the names that it shows, and others.
  private static let all: [(shown: String, others: [String], advice: String)] = [
    (
      "-k, --insecure", ["--proxy-insecure", "--proxy-cacert", "--doh-insecure"],
      "certificates are always checked; see --cacert"
    ),
    ("--connect-to", [], "--resolve gives a name an address, which is checked"),
    ("--unix-socket", ["--abstract-unix-socket"], "there would be no address to check"),
    ("-n, --netrc", ["--netrc-file", "--netrc-optional"], "-u @FILE keeps a password off the command line"),
    ("--oauth2-bearer", [], "-H @FILE, with the line 'Authorization: Bearer …'"),
    ("--digest, --ntlm, --negotiate", ["--anyauth", "--basic", "--aws-sigv4"], "-u is Basic: keep it to https"),
    ("-e, --referer", [], "-H 'Referer: …'"),
    ("-z, --time-cond", [], "-H 'If-Modified-Since: …'"),
    ("--etag-compare", ["--etag-save"], "-H 'If-None-Match: …', and -w '%header{etag}'"),
    ("-J", ["--remote-header-name"], "a server would choose the file's name"),
    ("-R, --create-dirs, --output-dir", ["--remote-time"], "touch and mkdir do it"),
    ("-K, --config", ["-q", "--disable"], "no option files: --config is the configuration file"),
    ("--next", ["-:"], "one command for each kind of request"),
    ("--url, --url-query", [], "URLs are arguments; -G --data-urlencode adds to a query"),
    (
      "--retry-delay, --retry-max-time", ["--retry-all-errors", "--retry-connrefused"],
      "use --retry alone, which waits 1 s, 2 s, 4 s and so on"
    ),
    ("--limit-rate, -Y", ["--speed-limit"], "-m ends what is slow, -y what is silent"),
    ("--max-filesize", [], "ulimit -f bounds files, and | head -c what is piped"),
    ("--fail-early", [], "one command for each URL, with && between them"),
    ("--parallel-max", ["--parallel-immediate"], "-Z fetches 50 at once; xargs -P has any number"),
    ("--trace, --trace-ascii", ["--trace-time"], "-v"),
    ("-#, --progress-bar", ["--no-progress-meter"], "a terminal has progress, unless -s is given"),
    ("-j", ["--junk-session-cookies"], "take the session's cookies out of the file that -b reads"),
    ("--doh-url", [], "--provider URL, and --no-system to ask nobody else"),
    ("--dns-servers", ["--dns-interface", "--dns-ipv4-addr", "--dns-ipv6-addr"], "--provider says who is asked"),
    ("--interface", ["--local-port"], "the system chooses the address to send from"),
    ("--socks5, --preproxy", ["--socks5-hostname"], "dnsctl proxy --upstream, and -x to that"),
    ("--socks4", ["--socks4a"], "other proxies have to speak HTTP or SOCKS5"),
    ("-p, --proxytunnel", [], "https goes through a proxy's tunnel anyway"),
    (
      "--proxy-header", ["--proxy-anyauth", "--proxy-basic", "--proxy-digest", "--proxy-negotiate", "--proxy-ntlm"],
      "-U gives the proxy a name and a password, as Basic"
    ),
    ("--proto, --proto-redir", ["--proto-default"], "only http and https are asked; see --no-location"),
    ("--ssl-reqd", ["--ssl", "--hsts"], "write https:// in the URL"),
    ("--capath", [], "SSL_CERT_DIR names the folder of authorities"),
    ("--pinnedpubkey", [], "no key is pinned; --cacert only adds an authority"),
    ("--path-as-is", [], "a path's . and .. are taken out, as in browsers"),
    ("--no-keepalive", ["--keepalive-time", "--keepalive-cnt"], "connections end with the command"),
    ("--stderr", [], "2> FILE, or 2>&1"),
    ("--remove-on-error", [], "write '|| rm FILE' behind the command"),
    ("--location-trusted", [], "no other server gets a password"),
    ("--post301, --post302, --post303", [], "ask the new URL itself"),
    (
      "--tlsv1.x, --ciphers",
      [
        "-1", "--tlsv1", "--tlsv1.0", "--tlsv1.1", "--tlsv1.2", "--tlsv1.3", "--tls-max", "--tls13-ciphers",
        "--curves",
      ],
      "what the system's OpenSSL allows is used"
    ),
    ("-0, --http1.0", ["--http0.9"], "1.1 is the oldest that is asked for"),
    ("--http3", ["--http3-only"], "the libcurl of most systems has none"),
    ("{a,b} and [1-9] in URLs", [], "the shell does it"),
    ("several files in one -F, ;encoder=, ;headers=", [], "give -F once for each file"),
    ("NAME=( in -F", [], "( has no meaning: no part holds others"),
  ]

  /// The list for the manual, laid out like the discussion of a command.
  static let table = all.map { entry in
    let shown = "  " + entry.shown
    let gap =
      shown.count < 22 ? String(repeating: " ", count: 23 - shown.count) : "\n" + String(repeating: " ", count: 23)
    return shown + gap + entry.advice
  }.joined(separator: "\n")

  /// What to use in place of an option; nil if curl has no such option either.
  static func advice(on option: String) -> String? {
    all.first { entry in
      entry.others.contains(option) || entry.shown.split(separator: ", ").contains { $0 == option }
    }?.advice
  }
}
