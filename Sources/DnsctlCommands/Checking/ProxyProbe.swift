// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A proxy's reply to one request; only its head is read.
struct ProxyReply: Sendable, Hashable {
  var status: Int
  /// The reason phrase; nil if there is none.
  var phrase: String?
  /// The error in `Proxy-Status` (RFC 9209), such as `dns_timeout`.
  var error: String?
  var details: String?

  /// Reads a head; nil if it is not one.
  init?(head: String) {
    let lines = head.split(whereSeparator: \.isNewline)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    self.status = status
    if words.count > 2 { phrase = words.dropFirst(2).joined(separator: " ") }
    let field = lines.dropFirst().first { $0.lowercased().hasPrefix("proxy-status:") }
    for parameter in field?.split(separator: ";") ?? [] {
      let parts = parameter.trimmed.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      let value = parts[1].hasPrefix("\"") ? parts[1].dropFirst().dropLast() : parts[1]
      if parts[0] == "error" { error = String(value) }
      if parts[0] == "details" { details = String(value) }
    }
  }
}

/// Asks a proxy, with a new connection each time, by plain sockets: of a refused tunnel curl reports only the status.
struct ProxyProbe: Sendable {
  /// Why there was no reply.
  struct Failure: Error, Hashable {
    /// In words.
    var reason: String
    /// Whether something listens there.
    var isConnected = false
  }

  let address: IPAddress
  let port: UInt16
  /// `USER:PASSWORD`.
  let credentials: String?

  /// The longest that it may all take.
  var timeout = Duration.seconds(10)

  /// Sends one request and reads the head of the reply.
  func ask(_ method: String, _ target: String) async -> Result<ProxyReply, Failure> {
    var head = "\(method) \(target) HTTP/1.1\r\nHost: \(method == "CONNECT" ? target : "proxy")\r\n"
    if let credentials { head += "Proxy-Authorization: Basic \(Base64.encoded(Array(credentials.utf8)))\r\n" }
    let bytes = Array((head + "Connection: close\r\n\r\n").utf8)
    return await withCheckedContinuation { continuation in
      // It blocks for at most the timeout.
      DispatchQueue.global().async { continuation.resume(returning: exchange(bytes)) }
    }
  }

  private func exchange(_ bytes: [UInt8]) -> Result<ProxyReply, Failure> {
    #if canImport(Glibc)
      let descriptor = socket(address.family == .ipv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(address.family == .ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { return .failure(failure()) }
    defer { close(descriptor) }
    let end = ContinuousClock.now + timeout
    // For connect(2), too (socket(7)).
    guard Self.limit(SO_SNDTIMEO, of: descriptor, until: end) else { return .failure(lateness) }
    guard reach(by: descriptor) else { return .failure(failure()) }
    return exchange(bytes, by: descriptor, until: end).mapError { Failure(reason: $0.reason, isConnected: true) }
  }

  /// The same on a connection.
  private func exchange(
    _ bytes: [UInt8], by descriptor: Int32, until end: ContinuousClock.Instant
  ) -> Result<ProxyReply, Failure> {
    guard unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      return .failure(failure())
    }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    var searched = 0
    while received.count < 65_536, received[searched...].firstRange(of: Array("\r\n\r\n".utf8)) == nil {
      searched = max(0, received.count - 3)
      // Anew for each piece: one that comes by single bytes would otherwise never end.
      guard Self.limit(SO_RCVTIMEO, of: descriptor, until: end) else { return .failure(lateness) }
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { return .failure(failure()) }
      guard count > 0 else { break }
      received += buffer.prefix(count)
    }
    guard let reply = ProxyReply(head: String(decoding: received, as: UTF8.self)) else {
      return .failure(Failure(reason: received.isEmpty ? "it hangs up" : "what answers there does not speak HTTP"))
    }
    return .success(reply)
  }

  /// Connects a socket; not named as the system's function, which it would hide.
  private func reach(by descriptor: Int32) -> Bool {
    let bytes = address.bytes
    var storage = sockaddr_storage()
    let size: Int
    if address.family == .ipv6 {
      var place = sockaddr_in6()
      place.sin6_family = sa_family_t(AF_INET6)
      place.sin6_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &place.sin6_addr) { unsafe $0.copyBytes(from: bytes) }
      size = MemoryLayout<sockaddr_in6>.size
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: place, as: sockaddr_in6.self) }
    } else {
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      unsafe withUnsafeMutableBytes(of: &place.sin_addr) { unsafe $0.copyBytes(from: bytes) }
      size = MemoryLayout<sockaddr_in>.size
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: place, as: sockaddr_in.self) }
    }
    return unsafe withUnsafePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(size)) == 0
      }
    }
  }

  /// Lets a socket's calls of a kind wait until an instant; false if that has come, or they would wait without end.
  private static func limit(_ option: Int32, of descriptor: Int32, until end: ContinuousClock.Instant) -> Bool {
    let (seconds, attoseconds) = (end - .now).components
    // 0 would be for ever.
    let microseconds = max(attoseconds / 1_000_000_000_000, seconds == 0 ? 1 : 0)
    var time = timeval(tv_sec: Int(seconds), tv_usec: .init(microseconds))
    guard seconds >= 0, attoseconds >= 0 else { return false }
    return unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) == 0
  }

  private var lateness: Failure { Failure(reason: "no answer in \(timeout.components.seconds) s") }

  private func failure() -> Failure {
    let code = errno
    // These are the errors of a blocking socket's timeout (socket(7)), the second one of connect(2).
    guard code != EAGAIN, code != EINPROGRESS else { return lateness }
    return Failure(reason: unsafe String(cString: strerror(code)).lowercased())
  }
}
