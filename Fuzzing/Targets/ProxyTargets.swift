// SPDX-License-Identifier: Apache-2.0
import NIOCore

@testable import DirectDNS
@testable import DirectDNSProxy

extension FuzzTarget {
  /// What clients, origins and other proxies say to the proxy.
  static let proxy = [
    FuzzTarget("proxy-request", proxyRequest),
    FuzzTarget("proxy-response", proxyResponse),
    FuzzTarget("chunked-body", chunkedBody),
    FuzzTarget("socks", socks),
    FuzzTarget("upstream-reply", upstreamReply),
  ]

  /// The end of the head in some bytes, which is the same however they come.
  private static func head(in bytes: [UInt8]) throws(BrokenRule) -> [UInt8]? {
    var searched = 0
    var found: Int?
    var isRefused = false
    for count in 0...bytes.count where found == nil && !isRefused {
      switch Result(catching: { () throws(MessageFault) in
        try HeadParser.end(in: bytes.span.extracting(0..<count), from: searched)
      }) {
      case .success(.at(let end)): found = end
      case .success(.missing(let next)):
        try require(next >= searched && next <= count, "the search for the end goes back")
        searched = next
      case .failure: isRefused = true
      }
    }
    let whole = try? HeadParser.end(in: bytes.span)
    if let found { try require(whole == .at(found), "the head ends elsewhere when it comes at once") }
    return found.map { Array(bytes[..<$0]) }
  }

  private static func proxyRequest(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let bytes = try head(in: bytes), let head = try? HeadParser.parse(bytes, .request) else { return }
    try require(head.bytes == bytes, "a head's bytes change")
    _ = head.values(.proxyAuthorization).map { BasicCredentials(head.bytes.span.extracting($0)) }
    guard let framing = try? BodyFraming.of(request: head) else { return }
    guard case .absolute(let origin, let path, let authorization)? = try? ForwardTarget.of(head) else { return }
    try require(path.first == 0x2f || path == [0x2a], "a path that is none: \(path.asText)")
    let forwarded = ForwardedHead.request(head, to: origin, path: path, authorization: authorization)
    guard let again = try? HeadParser.parse(forwarded, .request) else {
      throw BrokenRule(description: "what is passed on is no head: \(forwarded.asText.debugDescription)")
    }
    try require(again.values(.host).map(again.text) == [origin.hostField], "Host is not \(origin.hostField)")
    try require((try? BodyFraming.of(request: again)) == framing, "the body ends elsewhere for the next hop")
    for name in [FieldName.proxyAuthorization, .proxyConnection, .keepAlive, .originalURL, .http2Settings] {
      try require(!again.contains(name), "\(name) is passed on")
    }
    try require(
      again.contains(.connection) == (again.contains(.upgrade) || again.contains(.te)), "Connection is passed on")
    try require(again.values(.te).allSatisfy { again.text($0) == "trailers" }, "TE is passed on")
    try require(
      (try? ForwardOrigin("\(origin)".utf8.span, defaultPort: nil)) == origin, "an origin changes as text: \(origin)")
  }

  private static func proxyResponse(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let bytes = try head(in: bytes), let head = try? HeadParser.parse(bytes, .response),
      case .response(let status, _) = head.start,
      let framing = try? BodyFraming.of(response: head, status: status, isToHEAD: false)
    else { return }
    for closes in [false, true] {
      let forwarded = ForwardedHead.response(head, closes: closes)
      guard let again = try? HeadParser.parse(forwarded, .response) else {
        throw BrokenRule(description: "what is passed on is no head: \(forwarded.asText.debugDescription)")
      }
      try require(again.start.status == status, "another status is passed on")
      // HTTP/1.0 is passed on as HTTP/1.1, and what a body has no length by ends by the connection either way.
      let other = try? BodyFraming.of(response: again, status: status, isToHEAD: false)
      try require(other == framing, "the body ends elsewhere for the client: \(framing), \(String(describing: other))")
      try require(
        !again.contains(.proxyAuthenticationInfo) && !again.contains(.keepAlive), "a hop's own field is passed on")
    }
  }

  /// A body in chunks: the same however it comes, and what is passed on says the same.
  private static func chunkedBody(_ bytes: [UInt8]) throws(BrokenRule) {
    for kind in [HeadParser.Kind.request, .response] { try chunkedBody(bytes, kind) }
  }

  private static func chunkedBody(_ bytes: [UInt8], _ kind: HeadParser.Kind) throws(BrokenRule) {
    for isDecoded in [false, true] {
      let whole = passed(bytes, kind, by: Swift.max(1, bytes.count), isDecoded: isDecoded)
      for size in [1, 3] {
        let parts = passed(bytes, kind, by: size, isDecoded: isDecoded)
        try require(
          parts.isOver == whole.isOver && parts.isRefused == whole.isRefused, "it ends otherwise byte by byte")
        if whole.isOver {
          try require(parts.bytes == whole.bytes && parts.read == whole.read, "other bytes are passed on")
        }
      }
    }
    let chunks = passed(bytes, kind, by: Swift.max(1, bytes.count), isDecoded: false)
    guard chunks.isOver else { return }
    let again = passed(chunks.bytes, kind, by: Swift.max(1, chunks.bytes.count), isDecoded: false)
    try require(again.isOver && again.bytes == chunks.bytes, "what is passed on is another body")
    let content = passed(bytes, kind, by: Swift.max(1, bytes.count), isDecoded: true).bytes
    try require(
      passed(chunks.bytes, kind, by: 7, isDecoded: true).bytes == content, "what is passed on has another content")
  }

  private static func passed(
    _ bytes: [UInt8], _ kind: HeadParser.Kind, by size: Int, isDecoded: Bool
  ) -> (bytes: [UInt8], read: Int, isOver: Bool, isRefused: Bool) {
    var body = ChunkedBody(kind, isDecoded: isDecoded)
    var out: [UInt8] = []
    var start = 0
    while start < bytes.count, !body.isOver {
      let part = Array(bytes[start..<Swift.min(start + size, bytes.count)])
      var pieces: [ChunkedBody.Piece] = []
      guard let count = try? body.read(part.span, into: &pieces) else { return (out, start, false, true) }
      for piece in pieces {
        switch piece {
        case .pass(let range): out += part[range]
        case .end(let trailers): out += trailers
        }
      }
      start += count
    }
    return (out, start, body.isOver, false)
  }

  /// A client of SOCKS, whose first byte says whether a password is wanted: the same steps however its bytes come.
  private static func socks(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let first = bytes.first, bytes.count > 1, bytes[1] == 4 || bytes[1] == 5 else { return }
    let wantsUser = first & 1 == 1
    let whole = steps(Array(bytes.dropFirst()), by: bytes.count, wantsUser: wantsUser)
    let parts = steps(Array(bytes.dropFirst()), by: 1, wantsUser: wantsUser)
    try require(parts == whole, "other steps byte by byte: \(parts), \(whole)")
    if wantsUser, whole.contains(where: { if case .connect = $0 { true } else { false } }) {
      let isAuthenticated = whole.contains { if case .authenticate = $0 { true } else { false } }
      try require(isAuthenticated, "a connection without a password")
    }
  }

  private static func steps(_ bytes: [UInt8], by size: Int, wantsUser: Bool) -> [SOCKSHandshake.Step] {
    var handshake = SOCKSHandshake(wantsUser: wantsUser)
    var steps: [SOCKSHandshake.Step] = []
    var waiting: ArraySlice<UInt8> = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      waiting += bytes[start..<Swift.min(start + size, bytes.count)]
      while true {
        var step = handshake.read(&waiting)
        if case .authenticate = step {
          steps.append(step)
          step = handshake.authenticated(true)
        }
        if step == .wait { break }
        steps.append(step)
        if case .send = step { continue }
        return steps
      }
    }
    return steps
  }

  /// What another proxy says, whose kind the first byte names: the same comes of it however its bytes come.
  private static func upstreamReply(_ bytes: [UInt8]) throws(BrokenRule) {
    let urls = ["http://u:p@192.0.2.1", "socks5://192.0.2.1", "socks5://u:p@192.0.2.1"]
    guard let first = bytes.first else { return }
    let url = urls[Int(first) % urls.count]
    guard let upstream = try? UpstreamProxy(url) else { throw BrokenRule(description: "\(url) is no proxy") }
    let reply = Array(bytes.dropFirst())
    let whole = steps(of: upstream, replying: reply, by: Swift.max(1, reply.count))
    let parts = steps(of: upstream, replying: reply, by: 1)
    try require(parts.steps == whole.steps, "other steps byte by byte: \(parts.steps), \(whole.steps)")
    switch whole.steps.last {
    case .connected?: try require(parts.rest == whole.rest, "\(whole.rest) bytes are the origin's, or \(parts.rest)")
    case .failed(let failure)?:
      let message = failure.refusal.message
      try require(message.printable == message, "a refusal cannot be shown: \(message.debugDescription)")
      let reason = failure.refusal.reason
      try require(
        reason.utf8.count <= 512 && reason.utf8.allSatisfy { (0x20..<0x7f).contains($0) },
        "a refusal's reason phrase is no line: \(reason.debugDescription)")
    case .send?, .wait?, nil: break
    }
  }

  /// What a handshake does, and how many bytes are left behind it.
  private static func steps(
    of upstream: UpstreamProxy, replying bytes: [UInt8], by size: Int
  ) -> (steps: [UpstreamHandshake.Step], rest: Int) {
    let target = ForwardOrigin(.address(.ipv4(0xC000_0201)), port: 443)
    var handshake = UpstreamHandshake(upstream, to: target, headSize: 1024)
    var steps: [UpstreamHandshake.Step] = []
    var buffer = ByteBuffer()
    for start in stride(from: 0, to: bytes.count, by: size) {
      let end = Swift.min(start + size, bytes.count)
      buffer.writeBytes(bytes[start..<end])
      while true {
        let step = handshake.read(&buffer)
        if step == .wait { break }
        steps.append(step)
        if case .send = step { continue }
        return (steps, bytes.count - end + buffer.readableBytes)
      }
    }
    return (steps, buffer.readableBytes)
  }
}

extension MessageHead.Start {
  fileprivate var status: Int? { if case .response(let status, _) = self { status } else { nil } }
}
