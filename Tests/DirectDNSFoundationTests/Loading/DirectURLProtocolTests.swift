// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("A session that goes direct", .timeLimit(.minutes(2)))
struct DirectURLProtocolTests {
  @Test func `a request goes to the name's address, with the name in Host and in the response`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    let url = origin.url("/a?b=c", host: "shop.test")
    let (text, response) = try await direct.text(url)
    #expect(response.statusCode == 200 && response.url?.absoluteString == url && response.history.isEmpty)
    #expect(text.hasPrefix("GET /a?b=c HTTP/1.1\r\nHost: shop.test:\(origin.port)\r\n"))
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1") && response.resolution?.freshness == .fresh)
    await direct.end()
    await origin.stop()
  }

  @Test(arguments: [
    ("http://a.example/", true), ("HTTPS://a.example/", true), ("ftp://a.example/", false), ("ws://a.example/", false),
    ("file:///etc/hosts", false), ("a", false),
  ])
  func `what it can send is taken, and everything else left to others`(_ url: String, _ isTaken: Bool) throws {
    #expect(DirectURLProtocol.canInit(with: try DirectSession.request(url)) == isTaken)
  }

  @Test func `where direct connect is off the session goes its own way`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    var configuration = direct.client.configuration
    configuration.direct = .offUnder([try HostName("localhost")])
    try direct.client.update(configuration)
    #expect(try await direct.text(origin.url("/", host: "shop.test")).response.statusCode == 200)
    let request = try DirectSession.request(origin.url("/a", host: "localhost"))
    let (data, response) = try await direct.session.data(for: request)
    #expect(!(response is DirectURLResponse))
    #expect(String(decoding: data, as: UTF8.self).contains("Host: localhost:\(origin.port)\r\n"))
    configuration.direct = .on
    try direct.client.update(configuration)
    #expect(try await direct.session.data(for: request).1 is DirectURLResponse)
    await direct.end()
    await origin.stop()
  }

  @Test func `over TLS the name is verified`() async throws {
    let authority = try TestCertificateAuthority()
    let origin = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test"])))
    let file = try authority.makeFile()
    let direct = try DirectSession(names: ["shop.test", "other.test"], authority: file.path)
    #expect(try await direct.text(origin.url("/", host: "shop.test")).response.statusCode == 200)
    let error = try await direct.error(DirectSession.request(origin.url("/", host: "other.test")))
    #expect(error.code == .serverCertificateUntrusted && error.directError?.code == .tlsFailed)
    await direct.end()
    await origin.stop()
  }

  @Test func `a client's certificate is not shown to another origin that a redirect leads to`() async throws {
    let authority = try TestCertificateAuthority()
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: ["shop.test"]), clientAuthority: authority.certificate)
    let second = try await FakeOrigin.start(configuration: configuration)
    let away = second.url("/", host: "shop.test")
    let first = try await FakeOrigin.start(configuration: configuration) { request in
      request.path == "/away" ? OriginResponse(.found, fields: [.location: away]) : OriginResponse()
    }
    let identity = try authority.issueClient(name: "pipeline")
    let pem = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: pem) }
    try Data((identity.certificates.joined(separator: "\n") + "\n" + identity.privateKey).utf8).write(to: pem)
    let file = try authority.makeFile()
    let direct = try DirectSession(authority: file.path) { $0.identity = ClientIdentity(certificate: pem.path) }
    #expect(try await direct.text(first.url("/", host: "shop.test")).response.statusCode == 200)
    _ = try await direct.error(DirectSession.request(first.url("/away", host: "shop.test")))
    #expect(first.requests.count == 2 && second.requests.isEmpty)
    // It was the certificate alone that was missing there.
    #expect(try await direct.text(away).response.statusCode == 200)
    await direct.end()
    await first.stop()
    await second.stop()
  }

  @Test(arguments: [1, 300_000]) func `a body arrives as it is, from bytes and from a stream`(_ size: Int) async throws
  {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let url = origin.url("/", host: "shop.test")
    _ = try await direct.text(
      try DirectSession.request(url) {
        $0.httpMethod = "POST"; $0.httpBody = body
      })
    _ = try await direct.text(
      try DirectSession.request(url) {
        $0.httpMethod = "PUT"; $0.httpBodyStream = InputStream(data: body)
      })
    #expect(origin.requests.map(\.body) == [Array(body), Array(body)])
    #expect(origin.requests.map { $0.fields[.contentLength] } == ["\(size)", nil])
    await direct.end()
    await origin.stop()
  }

  @Test func `sessions with clients of their own share a process`() async throws {
    let origin = try await FakeOrigin.start()
    let sessions = try (0..<9).map { number in
      try DirectSession(names: ["shop\(number).test"]) { $0.userAgent = "client \(number)" }
    }
    for (number, direct) in sessions.enumerated() {
      let text = try await direct.text(origin.url("/", host: "shop\(number).test")).text
      #expect(text.contains("User-Agent: client \(number)\r\n"))
    }
    for direct in sessions { await direct.end() }
    await origin.stop()
  }

  @Test func `hundreds of tasks at once are all answered`() async throws {
    let origin = try await FakeOrigin.start()
    let sessions = try [DirectSession(), DirectSession()]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<400 {
        group.addTask {
          let text = try await sessions[number % 2].text(origin.url("/\(number)", host: "shop.test")).text
          #expect(text.hasPrefix("GET /\(number) "))
        }
      }
      try await group.waitForAll()
    }
    for direct in sessions { await direct.end() }
    await origin.stop()
  }

  @Test func `a configuration's fields go out, and the request's own win`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession(configuration: {
      $0.httpAdditionalHeaders = ["X-Key": "session", "Accept": "text/html"]
    })
    let text = try await direct.text(
      try DirectSession.request(origin.url("/", host: "shop.test")) { $0.setValue("own", forHTTPHeaderField: "x-key") }
    ).text
    let fields = text.split(separator: "\r\n").dropFirst(2).filter { !$0.hasPrefix("Accept-") }
    #expect(fields == ["X-Key: own", "Accept: text/html", "User-Agent: DirectDNS"])
    await direct.end()
    await origin.stop()
  }

  @Test func `a compressed body is asked for and decoded`() async throws {
    let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACAyvJSFUoTsxN1VEoSEzOTk0BAP+daNAQAAAA"))
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(fields: [.contentEncoding: "gzip"], body: Array(packed))
    }
    let direct = try DirectSession()
    #expect(try await direct.text(origin.url("/", host: "shop.test")).text == "the same, packed")
    #expect(origin.requests.first?.fields[.acceptEncoding]?.contains("gzip") == true)
    await direct.end()
    await origin.stop()
  }

  @Test func `where the class itself stands, addresses have to be public`() async throws {
    let origin = try await FakeOrigin.start()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [DirectURLProtocol.self]
    let session = URLSession(configuration: configuration)
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: DirectSession.request(origin.url()))
    }
    #expect(error?.code == .cannotConnectToHost && error?.directError?.code == .addressForbidden)
    #expect(origin.connectionCount == 0)
    session.invalidateAndCancel()
    await origin.stop()
  }

  @Test func `a request for the cache alone is not sent`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    let error = try await direct.error(
      try DirectSession.request(origin.url("/", host: "shop.test")) { $0.cachePolicy = .returnCacheDataDontLoad })
    #expect(error.code == .resourceUnavailable && origin.connectionCount == 0)
    await direct.end()
    await origin.stop()
  }

  // MARK: Redirects

  @Test func `redirects are followed, with their history and the URL that answered`() async throws {
    let origin = try await FakeOrigin.start { request in
      switch request.path {
      case "/1": OriginResponse(.found, fields: [.location: "/2"])
      case "/2":
        OriginResponse(
          .permanentRedirect, fields: [.location: "http://\(request.host?.replacing("shop", with: "other") ?? "")/3"])
      default: OriginResponse.echo(of: request)
      }
    }
    let direct = try DirectSession(names: ["shop.test", "other.test"])
    let (text, response) = try await direct.text(
      try DirectSession.request(origin.url("/1", host: "shop.test")) {
        $0.httpMethod = "POST"
        $0.httpBody = Data("order".utf8)
        $0.setValue("Bearer x", forHTTPHeaderField: "Authorization")
      })
    #expect(response.history.map(\.statusCode) == [302, 308])
    #expect(response.history.compactMap(\.url?.path) == ["/1", "/2"])
    #expect(response.url?.absoluteString == origin.url("/3", host: "other.test"))
    #expect(text.hasPrefix("GET /3 ") && !text.contains("Bearer") && !text.contains("Content-"))
    #expect(origin.requests.map { $0.fields[.authorization] } == ["Bearer x", "Bearer x", nil])
    await direct.end()
    await origin.stop()
  }

  @Test func `a redirect within its origin waits for the rest of its body, half a second at most`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/old" else { return OriginResponse(body: "new") }
      return OriginResponse(.found, fields: [.location: "/new"], length: 100) { writer in
        try await writer.write("abc")
        try await gate.pass()
      }
    }
    let direct = try DirectSession()
    let began = ContinuousClock.now
    let (text, _) = try await direct.text(origin.url("/old", host: "shop.test"))
    #expect(text == "new" && ContinuousClock.now - began >= .milliseconds(450))
    gate.open()
    await direct.end()
    await origin.stop()
  }

  @Test func `a stream that has to be sent again is an error`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(.temporaryRedirect, fields: [.location: "/"]) }
    let direct = try DirectSession()
    let error = try await direct.error(
      try DirectSession.request(origin.url("/", host: "shop.test")) {
        $0.httpMethod = "POST"
        $0.httpBodyStream = InputStream(data: Data("order".utf8))
      })
    #expect(error.code == .requestBodyStreamExhausted && error.directError?.code == .bodyNotReplayable)
    await direct.end()
    await origin.stop()
  }

  @Test func `a stream goes out once, with the first request that has somebody to send it to`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    let body = InputStream(data: Data("order".utf8))
    // Nobody listens at the first one.
    let urls = ["http://shop.test:1025/", origin.url("/", host: "shop.test")]
    let requests = try urls.map { url in
      try DirectSession.request(url) {
        $0.httpMethod = "PUT"
        $0.httpBodyStream = body
      }
    }
    #expect(try await direct.error(requests[0]).code == .cannotConnectToHost)
    #expect(try await direct.text(requests[1]).response.statusCode == 200)
    let error = try await direct.error(requests[1])
    #expect(error.code == .requestBodyStreamExhausted && error.directError?.code == .bodyNotReplayable)
    #expect(origin.requests.map(\.body) == [Array("order".utf8)])
    await direct.end()
    await origin.stop()
  }

  @Test func `a stream that another request reads while the name is looked up is an error, and not an empty body`()
    async throws
  {
    let origin = try await FakeOrigin.start()
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("late.test", "127.0.0.1") })
    provider.misbehave(.hold)
    let direct = try DirectSession(asking: provider)
    let body = InputStream(data: Data("order".utf8))
    let requests = try ["late.test", "shop.test"].map { host in
      try DirectSession.request(origin.url("/", host: host)) {
        $0.httpMethod = "PUT"
        $0.httpBodyStream = body
      }
    }
    async let late = direct.error(requests[0])
    await provider.waitForHeld()
    #expect(try await direct.text(requests[1]).response.statusCode == 200)
    provider.behave()
    provider.release()
    let error = try await late
    #expect(error.code == .requestBodyStreamExhausted && error.directError?.code == .bodyNotReplayable)
    await direct.end()
    // It has read by then all that has come.
    #expect(await origin.waitForOpenConnections(0))
    #expect(origin.requests.map(\.body) == [Array("order".utf8)])
    await provider.stop()
    await origin.stop()
  }

  @Test func `a stream that cannot be read fails its request, and does not end the body`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession()
    let error = try await direct.error(
      try DirectSession.request(origin.url("/", host: "shop.test")) {
        $0.httpMethod = "PUT"
        $0.httpBodyStream = InputStream(fileAtPath: "/no-such-folder/order")
      })
    #expect(error.code == .requestBodyStreamExhausted && error.directError?.code == .bodyFailed)
    #expect(error.directError?.underlying != nil)
    await direct.end()
    // It has read by then all that has come.
    #expect(await origin.waitForOpenConnections(0))
    #expect(origin.requests.isEmpty)
    await origin.stop()
  }

  @Test func `the twenty-first redirect is an error, and a client without redirects hands out the first`() async throws
  {
    let origin = try await FakeOrigin.start { _ in OriginResponse(.found, fields: [.location: "/"], body: "moved") }
    let direct = try DirectSession()
    let error = try await direct.error(DirectSession.request(origin.url("/", host: "shop.test")))
    #expect(error.code == .httpTooManyRedirects && origin.requests.count == 21)
    let other = try DirectSession(client: { $0.redirects = nil })
    let (text, response) = try await other.text(origin.url("/", host: "shop.test"))
    #expect(text == "moved" && response.statusCode == 302)
    await direct.end()
    await other.end()
    await origin.stop()
  }

  // MARK: What Foundation on Linux cannot do

  #if !canImport(Darwin)
    @Test func `upload and download tasks are refused, with what to use instead`() async throws {
      let origin = try await FakeOrigin.start()
      let direct = try DirectSession()
      let request = try DirectSession.request(origin.url("/", host: "shop.test")) { $0.httpMethod = "POST" }
      let upload = await #expect(throws: URLError.self) {
        try await direct.session.upload(for: request, from: Data("order".utf8))
      }
      #expect(upload?.localizedDescription.contains("httpBody") == true)
      let download = await #expect(throws: URLError.self) { try await direct.session.download(for: request) }
      #expect(download?.localizedDescription.contains("data task") == true)
      #expect(origin.connectionCount == 0)
      await direct.end()
      await origin.stop()
    }

    @Test(arguments: ["Basic realm=\"shop\"", "Bearer realm=\"shop\"", "Digest realm=\"shop\", nonce=\"x\""])
    func `a challenge is handed to the caller`(_ challenge: String) async throws {
      let origin = try await FakeOrigin.start { _ in
        OriginResponse(.unauthorized, fields: [.wwwAuthenticate: challenge], body: "who are you")
      }
      let direct = try DirectSession()
      let (text, response) = try await direct.text(origin.url("/", host: "shop.test"))
      #expect(response.statusCode == 401 && text == "who are you")
      #expect(response.headerFields[.wwwAuthenticate] == challenge)
      #expect(response.value(forHTTPHeaderField: "WWW-Authenticate") == ", \(challenge)")
      await direct.end()
      await origin.stop()
    }
  #endif
}
