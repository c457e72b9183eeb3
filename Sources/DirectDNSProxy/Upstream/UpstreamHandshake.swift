// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The handshake with another proxy until it has connected: CONNECT (RFC 9110 §9.3.6), or SOCKS5 (RFC 1928, RFC 1929).
///
/// A value that is fed with bytes: it has no connection, and never blocks.
struct UpstreamHandshake {
  enum Step: Equatable {
    /// More bytes are needed.
    case wait
    /// Send this, and continue reading.
    case send([UInt8])
    /// It is connected; the bytes that are left are the origin's.
    case connected
    case failed(Failure)
  }

  /// Why there is no connection.
  struct Failure: Error, Equatable {
    let refusal: ProxyRefusal
    /// Whether it is the target's fault, and not the proxy's.
    let isAboutTarget: Bool
    /// Whether it is that of one address of the proxy, so that another one of them may work.
    var isAboutAddress = false
  }

  private enum State { case response, method, authentication, reply }

  private let upstream: UpstreamProxy
  private let target: ForwardOrigin
  private let headSize: Int
  private let via: ProxyVia
  private var state: State
  /// How much of a response's head was searched for its end.
  private var searched = 0

  init(_ upstream: UpstreamProxy, to target: ForwardOrigin, headSize: Int, via: ProxyVia = ProxyVia()) {
    self.upstream = upstream
    self.target = target
    self.headSize = headSize
    self.via = via
    state = upstream.kind == .http ? .response : .method
  }

  /// What is sent first.
  var beginning: [UInt8] {
    switch upstream.kind {
    case .http:
      Array(
        "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\(upstream.authorization)\(via.line)\r\n".utf8)
    case .socks5: upstream.user == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }
  }

  /// Reads the next bytes.
  ///
  /// - Parameter bytes: what has come; what was read is removed.
  /// - Returns: what to do.
  mutating func read(_ bytes: inout ByteBuffer) -> Step {
    do throws(Failure) {
      return switch state {
      case .response: try readResponse(&bytes)
      case .method: try readMethod(&bytes)
      case .authentication: try readAuthentication(&bytes)
      case .reply: try readReply(&bytes)
      }
    } catch {
      return .failed(error)
    }
  }

  /// The proxy has closed the connection; so does a load balancer that takes connections for a proxy that is gone.
  var cutOff: Failure {
    // It speaks SOCKS5, and was told the target: `ssh -D` ends so what cannot be connected to, without a reply.
    guard state != .reply else {
      // A name has no next address that another connection could ask for.
      let isName = if case .name = target.host { true } else { false }
      return Failure(
        refusal: ProxyRefusal(
          502, "connection_terminated",
          "The upstream proxy \(upstream) does not connect to \(target): it closed the connection, as ssh -D does."),
        isAboutTarget: true, isAboutAddress: isName)
    }
    var failure = broken("it closed the connection", "connection_terminated")
    failure.isAboutAddress = true
    return failure
  }

  // MARK: CONNECT

  private mutating func readResponse(_ bytes: inout ByteBuffer) throws(Failure) -> Step {
    do throws(MessageFault) {
      while true {
        guard let head = try bytes.readHead(.response, searched: &searched, size: headSize, fieldLimit: 500),
          case .response(let status, let reason) = head.start
        else { return .wait }
        guard !(100..<200).contains(status) else { continue }
        // A 2xx has no body here, whatever length it announces.
        guard !(200..<300).contains(status) else { return .connected }
        return .failed(refused(status, head.text(reason), head))
      }
    } catch {
      throw Failure(
        refusal: ProxyRefusal(response: error, from: "The upstream proxy \(upstream)"), isAboutTarget: false)
    }
  }

  private func refused(_ status: Int, _ reason: String, _ head: MessageHead) -> Failure {
    guard status != 407 else { return Failure(refusal: upstream.credentialsRefusal(by: head), isAboutTarget: false) }
    let reported = head.values(named: "proxy-status").first.flatMap { Self.error(in: head.text($0)) }
    guard reported != "proxy_loop_detected" else {
      return Failure(
        refusal: ProxyRefusal(
          403, reported,
          "The upstream proxy \(upstream) sends what it gets from here back to here: remove --upstream from one of them."
        ), isAboutTarget: false)
    }
    let answer = reason.isEmpty ? "\(status)" : "\(status) \(reason.printable)"
    return Failure(
      refusal: ProxyRefusal(
        status == 403 ? 403 : status == 504 ? 504 : 502,
        reported
          ?? (status == 403 ? "http_request_denied" : status == 504 ? "connection_timeout" : "destination_unavailable"),
        DirectDNSError.sentence(
          "The upstream proxy \(upstream) does not connect to \(target): it answered \(answer)")),
      isAboutTarget: true)
  }

  /// The proxy error type in a `Proxy-Status` (RFC 9209 §2.1.1), if it is a standard one.
  ///
  /// It becomes a label of metrics. The other parameters are text of the other proxy, and are not used.
  static func error(in field: String) -> String? {
    guard let start = field.firstRange(of: "error=")?.upperBound else { return nil }
    let token = String(field[start...].prefix { $0.isASCII && ($0.isLowercase || $0 == "_") })
    return errorTypes.contains(token) ? token : nil
  }

  /// RFC 9209 §2.3.
  private static let errorTypes: Set<String> = [
    "dns_timeout", "dns_error", "destination_not_found", "destination_unavailable", "destination_ip_prohibited",
    "destination_ip_unroutable", "connection_refused", "connection_terminated", "connection_timeout",
    "connection_read_timeout", "connection_write_timeout", "connection_limit_reached", "tls_protocol_error",
    "tls_certificate_error", "tls_alert_received", "http_request_error", "http_request_denied",
    "http_response_incomplete", "http_response_header_section_size", "http_response_header_size",
    "http_response_body_size", "http_response_trailer_section_size", "http_response_trailer_size",
    "http_response_transfer_coding", "http_response_content_coding", "http_response_timeout", "http_upgrade_failed",
    "http_protocol_error", "proxy_internal_response", "proxy_internal_error", "proxy_configuration_error",
    "proxy_loop_detected",
  ]

  // MARK: SOCKS5

  private mutating func readMethod(_ bytes: inout ByteBuffer) throws(Failure) -> Step {
    guard let answer = bytes.readBytes(length: 2) else { return .wait }
    switch (answer[0], answer[1]) {
    case (5, 0):
      state = .reply
      return .send(request)
    case (5, 2) where upstream.user != nil:
      state = .authentication
      let (name, password) = (Array((upstream.user ?? "").utf8), Array((upstream.password?.text ?? "").utf8))
      guard let nameLength = UInt8(exactly: name.count), let passwordLength = UInt8(exactly: password.count) else {
        throw broken("its user or password has more than SOCKS5's 255 bytes", "proxy_configuration_error")
      }
      return .send([1, nameLength] + name + [passwordLength] + password)
    case (5, _): throw Failure(refusal: upstream.credentialsRefusal, isAboutTarget: false)
    default: throw broken("it does not speak SOCKS5", "http_protocol_error")
    }
  }

  private mutating func readAuthentication(_ bytes: inout ByteBuffer) throws(Failure) -> Step {
    guard let answer = bytes.readBytes(length: 2) else { return .wait }
    guard answer[1] == 0 else { throw Failure(refusal: upstream.credentialsRefusal, isAboutTarget: false) }
    state = .reply
    return .send(request)
  }

  private var request: [UInt8] {
    let host: [UInt8]
    switch target.host {
    case .address(let address): host = [address.family == .ipv4 ? 1 : 4] + address.bytes
    // A name that can be looked up has 253 bytes at most.
    case .name(let name): host = [3, UInt8(truncatingIfNeeded: name.utf8.count)] + Array(name.utf8)
    }
    return [5, 1, 0] + host + [UInt8(target.port >> 8), UInt8(target.port & 0xff)]
  }

  private func readReply(_ bytes: inout ByteBuffer) throws(Failure) -> Step {
    let start = bytes.readerIndex
    guard let version: UInt8 = bytes.getInteger(at: start), let code: UInt8 = bytes.getInteger(at: start + 1) else {
      return .wait
    }
    guard version == 5 else { throw broken("it does not speak SOCKS5", "http_protocol_error") }
    guard code == 0 else { throw refused(code) }
    guard let kind: UInt8 = bytes.getInteger(at: start + 3), let first: UInt8 = bytes.getInteger(at: start + 4) else {
      return .wait
    }
    let length: Int
    switch kind {
    case 1: length = 4
    case 3: length = 1 + Int(first)
    case 4: length = 16
    default: throw broken("it does not speak SOCKS5", "http_protocol_error")
    }
    guard bytes.readableBytes >= 6 + length else { return .wait }
    bytes.moveReaderIndex(forwardBy: 6 + length)
    return .connected
  }

  /// A reply of SOCKS5 as an error of RFC 9209 (RFC 1928 §6).
  private func refused(_ code: UInt8) -> Failure {
    let (status, error, reason) =
      switch code {
      case 2: (403, "http_request_denied", "its rules do not allow it")
      case 3: (502, "destination_ip_unroutable", "no route to its network")
      case 4: (502, "destination_ip_unroutable", "no route to it")
      case 5: (502, "connection_refused", "connection refused")
      case 6: (504, "connection_timeout", "no answer in time")
      case 8: (502, "destination_unavailable", "it takes no \(kindOfTarget)")
      default: (502, "destination_unavailable", "it answered \(code)")
      }
    return Failure(
      refusal: ProxyRefusal(
        status, error, "The upstream proxy \(upstream) does not connect to \(target): \(reason)."),
      isAboutTarget: true)
  }

  private var kindOfTarget: String {
    switch target.host {
    case .address(let address): address.family == .ipv4 ? "IPv4 addresses" : "IPv6 addresses"
    case .name: "names, which socks5:// without --upstream-resolves does not tell it"
    }
  }

  private func broken(_ reason: String, _ error: String) -> Failure {
    Failure(
      refusal: ProxyRefusal(502, error, "The upstream proxy \(upstream) cannot be used: \(reason)."),
      isAboutTarget: false
    )
  }
}
