// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

/// A program of another language or project that makes requests, and heeds what its environment says of proxies.
///
/// All of them get and put, a hundred megabytes too, by http and by https, have credentials, and are told what went wrong.
///
/// |                         | 100 MB by   | HTTP/2 in a tunnel | WebSocket          |
/// |-------------------------|-------------|--------------------|--------------------|
/// | curl                    | http        | yes                | Debian's has none  |
/// | wget                    | https       | has none           | has none           |
/// | requests                | https       | has none           | has none           |
/// | aiohttp                 | http        | has none           | yes                |
/// | httpx                   | https       | yes, by h2         | has none           |
/// | Node                    | http        | yes                | from 22.21, 24.5   |
/// | Java                    | https       | yes                | yes                |
/// | Go                      | http        | yes                | has none           |
/// | git (`ProxyGitTests`)   | http, https | curl's             | has none           |
/// | AsyncHTTPClient (`Scripts/examples`) | http, https | yes   | has none           |
enum ProxyClient: String, CaseIterable, Sendable {
  case curl, wget, requests, aiohttp, httpx, node, java, go

  /// Those that speak HTTP/2.
  static let ofHTTP2: [Self] = [.curl, .httpx, .node, .java, .go]
  /// Those that have WebSockets; Debian's curl is built without.
  static let ofWebSockets: [Self] = [.aiohttp, .node, .java]

  /// Whether it shows the reason phrase by which a proxy refuses a tunnel; nil where that depends on its version.
  ///
  /// An old Node is told of its proxy by hand, and shows it; a newer one's `fetch` has the status alone.
  var showsReason: Bool? { self == .node ? nil : ![.curl, .java].contains(self) }

  /// What its user writes.
  enum Wish {
    case get(String)
    case put(String, URL)
    case save(String, URL)
    /// A GET by HTTP/2, of those that speak it.
    case second(String)
    /// A text and a megabyte by WebSocket, there and back, of those that have it.
    case socket(String)
  }

  /// The command line of a wish; ``missing`` has to be asked before.
  func words(_ wish: Wish, trusting caFile: String) -> [String] {
    switch self {
    case .curl:
      let curl = ["curl", "-sS", "-w", "\n%{http_code}", "--cacert", caFile]
      return switch wish {
      case .get(let url): curl + [url]
      case .put(let url, let file): curl + ["-T", file.path, url]
      case .save(let url, let file): curl + ["-o", file.path, url]
      case .second(let url), .socket(let url): curl + ["--http2", url]
      }
    case .wget:
      let wget = ["wget", "-nv", "-S", "--tries=1", "--content-on-error", "--ca-certificate=\(caFile)"]
      return switch wish {
      case .get(let url), .second(let url), .socket(let url): wget + ["-O", "-", url]
      case .put(let url, let file): wget + ["--method=PUT", "--body-file=\(file.path)", "-O", "-", url]
      case .save(let url, let file): wget + ["-O", file.path, url]
      }
    case .requests, .aiohttp, .httpx: return ["python3", Self.file("client.py"), rawValue] + Self.common(wish)
    case .node: return ["node", Self.file("client.js")] + Self.common(wish)
    case .java: return ["java", "-XX:TieredStopAtLevel=1", "-cp", Self.programs.path, "Client"] + Self.common(wish)
    case .go: return [Self.programs.appending(path: "go-client").path] + Self.common(wish)
    }
  }

  private static func common(_ wish: Wish) -> [String] {
    switch wish {
    case .get(let url): ["get", url]
    case .put(let url, let file): ["put", url, file.path]
    case .save(let url, let file): ["save", url, file.path]
    case .second(let url): ["second", url]
    case .socket(let url): ["socket", url]
    }
  }

  /// A program of `Tests/Clients`.
  static func file(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Clients/\(name)").path
  }

  /// Where those lie that are compiled.
  private static let programs = ServerFixture.folder.appending(path: "clients")

  private static let missing = Locked<[ProxyClient: Task<String?, Never>]>([:])

  /// Why it cannot run here; nil where it can.
  var missing: String? {
    get async {
      await Self.missing.withLock { known in
        if let task = known[self] { return task }
        let task = Task { await prepare() }
        known[self] = task
        return task
      }.value
    }
  }

  private func prepare() async -> String? {
    let (folder, home) = (Self.programs.path, ServerFixture.folder.path)
    let words =
      switch self {
      case .curl, .wget, .node: ["sh", "-c", "command -v \(rawValue)"]
      case .requests, .aiohttp, .httpx: ["python3", "-c", "import \(rawValue)"]
      case .java: ["javac", "-d", folder, Self.file("Client.java")]
      case .go: ["go", "build", "-o", "\(folder)/go-client", Self.file("client.go")]
      }
    let outcome = try? await ServerFixture.run("env", ["PATH=/usr/bin:/bin", "HOME=\(home)"] + words)
    return outcome?.status == 0 ? nil : "there is no \(rawValue) here"
  }
}
