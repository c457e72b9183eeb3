// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The browsers that tests drive: Chromium by its command line, WebKitGTK by the example that embeds it.
enum BrowserKind: String, CaseIterable, Sendable {
  case chromium, webkit

  private static let program = ["chromium", "chromium-browser", "google-chrome"].first {
    ServerFixture.path(of: $0) != nil
  }

  /// Why it cannot run here; nil where it can.
  var missing: String? {
    get async {
      switch self {
      case .chromium: return Self.program == nil ? "there is no Chromium here" : nil
      case .webkit:
        let script = "import gi; gi.require_version('WebKit2', '4.1'); from gi.repository import WebKit2"
        let outcome = try? await ServerFixture.run("env", ["/usr/bin/python3", "-c", script])
        guard outcome?.status == 0 else { return "there is no WebKitGTK for Python here" }
        return ServerFixture.path(of: "Xvfb") == nil ? "there is no Xvfb here" : nil
      }
    }
  }

  /// The command line that opens a page, a proxy included.
  func words(_ url: String, warm: [String], trusting trust: BrowserTrust?, in folder: URL) -> [String] {
    switch self {
    case .chromium:
      // As root it has no sandbox, and in a container no large /dev/shm.
      var flags = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-extensions",
        "--password-store=basic", "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
        "--user-data-dir=\(folder.path)/profile",
      ]
      if let trust { flags.append("--ignore-certificate-errors-spki-list=\(trust.keyHash)") }
      // A debugging port keeps it from ending when the page has loaded.
      let script = "exec \"$@\" --proxy-server=\"$http_proxy\" --remote-debugging-port=0"
      return ["dnsctl", "exec", "--", "sh", "-c", script, "sh", Self.program ?? "chromium"] + flags + [url]
    case .webkit:
      let words = ["/usr/bin/python3", Self.example] + warm.flatMap { ["--warm", $0] } + [url]
      return trust.map { $0.trusted(words) } ?? words
    }
  }

  private static let example = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/WebView/webview.py").path

  /// A screen that nobody sees, for a browser that wants one.
  func screen(in folder: URL) async throws -> (process: ServerProcess, variables: [String: String])? {
    guard self == .webkit else { return nil }
    let place = try ServerFixture.newFolder("screen")
    let number = place.appending(path: "display")
    let script = "exec Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp 3>\"$0\""
    let process = ServerProcess(program: "/bin/sh", arguments: ["-c", script, number.path], folder: place, ports: [])
    try await process.start()
    // It says its number as soon as it serves.
    let deadline = ContinuousClock.now + .seconds(20)
    var display = ""
    while !display.hasSuffix("\n"), ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(5))
      display = (try? String(contentsOf: number, encoding: .utf8)) ?? ""
    }
    return (
      process,
      [
        "DISPLAY": ":\(display.dropLast())", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none", "LIBGL_ALWAYS_SOFTWARE": "1",
        "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "WEBKIT_DISABLE_DMABUF_RENDERER": "1", "GSETTINGS_BACKEND": "memory",
        "GIO_USE_VFS": "local",
      ]
    )
  }
}
