// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

/// Bodies of a fake origin, both ways.
@Suite(.timeLimit(.minutes(1)))
struct OriginBodyTests {
  /// The process's memory in bytes, where the system tells (proc(5)).
  private var residentBytes: Int? {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      .flatMap { Int($0.split(separator: " ").dropFirst(1).first ?? "") }.map { $0 * 1024 }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `a large body is generated as it is read`(flag: String) async throws {
    let count = 300_000_000
    try await withSecureOrigin(answering: { _ in OriginResponse(generating: count) }) { origin, ca async throws in
      let before = residentBytes
      let reply = try await Curl.run(
        flag, "--cacert", ca, "-o", "/dev/null", "-w", "%{size_download} %header{content-length}\r\n\r\n",
        origin.url())
      #expect(reply.exit == 0 && reply.head == "\(count) \(count)")
      if let before, let after = residentBytes { #expect(after - before < 100_000_000) }
    }
  }

  @Test func `a generated body is what it says`() async throws {
    let count = 1_000_003
    try await withOrigin(answering: { _ in OriginResponse(generating: count) }) { origin async throws in
      let reply = try await Curl.run(origin.url())
      #expect(reply.body == GeneratedBody.bytes(count))
      #expect(GeneratedBody.bytes(5, from: 250) == [250, 0, 1, 2, 3])
      // By sha256sum.
      #expect(
        GeneratedBody.hash(ofFirst: count) == "a7c4bea888022868c93104055fd56077cc81fe9eb624820fe2f717f313188782")
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `a large request body is counted and hashed, and its first bytes are kept`(flag: String) async throws {
    let count = 100_000_000
    let path = FileManager.default.temporaryDirectory.appending(component: "directdns-\(UUID().uuidString)")
    try Data().write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let file = try FileHandle(forWritingTo: path)
    try file.truncate(atOffset: UInt64(count))
    try file.close()
    // By sha256sum.
    let hash = "a993f8c574e0fea8c1cdcbcd9408d9e2e107ee6e4d120edcfa11decd53fa0cae"

    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: [], addresses: [.ipv4(0x7F00_0001)])
    try await authority.withCAFile { ca async throws in
      try await withOrigin(.init(identity: identity, bodyLimit: 10)) { origin async throws in
        let before = residentBytes
        let reply = try await Curl.run(
          flag, "--cacert", ca, "-T", path.path(percentEncoded: false), origin.url("/x"))
        #expect(reply.exit == 0)
        let request = try #require(origin.requests.first)
        #expect(request.bodyLength == Int64(count) && request.bodyHash == hash)
        #expect(request.body == [UInt8](repeating: 0, count: 10))
        if let before, let after = residentBytes { #expect(after - before < 60_000_000) }
      }
    }
  }

  @Test func `a writer waits for a client that does not read, and learns that it has gone`() async throws {
    let (ended, continuation) = AsyncStream.makeStream(of: Int.self)
    let gate = Gate()
    try await withOrigin(answering: { _ in
      OriginResponse { body in
        var written = 0
        defer {
          continuation.yield(written)
          continuation.finish()
        }
        try await gate.pass()
        for _ in 0..<10_000 {
          try await body.write([UInt8](repeating: 1, count: 100_000))
          written += 100_000
        }
      }
    }) { origin async throws in
      try await RawClient.connected(to: origin.port) { client in
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await gate.waitForArrivals()
        gate.open()
      }
      for await written in ended { #expect(written < 100_000_000, "of a billion") }
    }
  }

  @Test func `a gate holds the head, and the rest of a body`() async throws {
    let (head, rest) = (Gate(), Gate())
    try await withOrigin(answering: { _ in
      try await head.pass()
      return OriginResponse(length: 8) { body in
        try await body.write("half")
        try await rest.pass()
        try await body.write("half")
      }
    }) { origin async throws in
      async let reply = Curl.run(origin.url())
      await head.waitForArrivals()
      #expect(rest.arrivalCount == 0)
      head.open()
      await rest.waitForArrivals()
      rest.open()
      let text = try await reply.text
      #expect(text == "halfhalf")
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `trailers follow the body`(flag: String) async throws {
    try await withSecureOrigin(answering: { _ in
      var response = OriginResponse(fields: [.trailer: "x-sum"], body: "body")
      response.trailers = [HTTPField.Name("x-sum") ?? .age: "42"]
      return response
    }) { origin, ca async throws in
      let reply = try await Curl.run(flag, "--cacert", ca, origin.url())
      #expect(reply.status == 200 && reply.field("content-length") == nil)
      // curl shows trailers where they come.
      #expect(reply.text.hasPrefix("body") && reply.text.contains("x-sum: 42"))
    }
  }

  @Test func `a request's trailers are recorded`() async throws {
    try await withOrigin { origin async throws in
      _ = try await RawClient.exchange(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close\r\n\r\n"
          + "4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n", with: origin.port)
      let request = try #require(origin.requests.first)
      #expect(request.body == Array("body".utf8) && request.trailers.first?.value == "42")
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `informational responses go first, and a gzipped body is unpacked`(flag: String) async throws {
    try await withSecureOrigin(answering: { _ in
      var response = OriginResponse(body: "some text").gzipped()
      response.informational = [
        HTTPResponse(status: .earlyHints, headerFields: [.link: "</style.css>; rel=preload"])
      ]
      return response
    }) { origin, ca async throws in
      let reply = try await Curl.run(flag, "--compressed", "--cacert", ca, origin.url())
      #expect(reply.status == 103 && reply.field("link") == "</style.css>; rel=preload")
      #expect(reply.text.contains("200") && reply.text.hasSuffix("\r\n\r\nsome text"))
    }
  }
}

extension HTTPResponse.Status {
  fileprivate static var earlyHints: Self { .init(code: 103, reasonPhrase: "Early Hints") }
}

extension HTTPField.Name {
  fileprivate static var link: Self { Self("link") ?? .age }
}
