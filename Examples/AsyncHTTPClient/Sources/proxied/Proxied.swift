// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Fetches URLs through the proxy that the environment names, as `dnsctl exec` sets it: one way to go direct without a line that
/// knows of it.
///
/// `dnsctl exec -- proxied [--ca FILE] [--put FILE | --save FILE] URL…`
@main
struct Proxied {
  static func main() async throws {
    var (options, words) = ([String: String](), Array(CommandLine.arguments.dropFirst()))
    while words.count > 1, words[0].hasPrefix("--") {
      options[words[0]] = words[1]
      words.removeFirst(2)
    }
    guard let proxy = HTTPClient.Configuration.Proxy(ProcessInfo.processInfo.environment["http_proxy"] ?? "") else {
      print("proxied: there is no http_proxy: run it by dnsctl exec -- proxied URL…")
      exit(64)
    }
    var tls = TLSConfiguration.makeClientConfiguration()
    if let file = options["--ca"] { tls.additionalTrustRoots = [.file(file)] }
    // AsyncHTTPClient looks at no variable by itself.
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls, proxy: proxy))
    var status: Int32 = 0
    for url in words {
      do {
        var request = HTTPClientRequest(url: url)
        if let file = options["--put"] { try request.put(file) }
        let response = try await client.execute(request, timeout: .seconds(120))
        print(response.status.code, url, response.version)
        if let file = options["--save"] {
          try await response.save(to: file)
        } else {
          print(String(buffer: try await response.body.collect(upTo: 1 << 20)), terminator: "")
        }
      } catch {
        print("\(url): \(error)")
        status = 1
      }
    }
    try await client.shutdown()
    exit(status)
  }
}

extension HTTPClient.Configuration.Proxy {
  /// Reads `http://[USER:PASSWORD@]HOST:PORT`.
  init?(_ text: String) {
    guard let url = URLComponents(string: text), let host = url.host, let port = url.port else { return nil }
    let authorization = url.user.map { HTTPClient.Authorization.basic(username: $0, password: url.password ?? "") }
    self = .server(host: host, port: port, authorization: authorization)
  }
}

extension HTTPClientRequest {
  /// Sends a file, which is read as it goes.
  mutating func put(_ path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 0)
    method = .PUT
    let pieces = AsyncThrowingStream {
      try file.read(upToCount: 1 << 18).flatMap { $0.isEmpty ? nil : ByteBuffer(bytes: $0) }
    }
    body = .stream(pieces, length: .known(Int64(size)))
  }
}

extension HTTPClientResponse {
  /// Writes the body to a file as it comes.
  func save(to path: String) async throws {
    guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    for try await piece in body { try file.write(contentsOf: Data(piece.readableBytesView)) }
    try file.close()
  }
}
