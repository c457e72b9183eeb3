// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The target of a request (RFC 9112 §3.2).
enum ForwardTarget: Equatable, Sendable {
  /// An origin, and the path byte for byte as it came; `authorization` comes from the URL's user info, and is a secret.
  case absolute(ForwardOrigin, path: [UInt8], authorization: String? = nil)
  /// An origin to connect to.
  case authority(ForwardOrigin)
  /// A path of the proxy's own; `*` for OPTIONS about the proxy as a whole.
  case own(path: String)

  /// Reads a request's target.
  ///
  /// - Parameter head: a request.
  /// - Returns: the target.
  /// - Throws: what is wrong with it; a host that cannot be used is a fault too.
  static func of(_ head: MessageHead) throws(MessageFault) -> ForwardTarget {
    guard case .request(let method, let range) = head.start else { throw .malformed("this is not an HTTP request") }
    let bytes = head.bytes.span
    if bytes.extracting(method).isEqual("CONNECT") {
      let origin = try ForwardOrigin(bytes.extracting(range), defaultPort: nil)
      return .authority(origin)
    }
    if bytes.extracting(range).isEqual("*"), bytes.extracting(method).isEqual("OPTIONS") { return .own(path: "*") }
    if bytes[range.lowerBound] == UInt8(ascii: "/") {
      let path = range.prefix { bytes[$0] != UInt8(ascii: "?") && bytes[$0] != UInt8(ascii: "#") }
      return .own(path: head.text(path))
    }
    guard let scheme = scheme(bytes, range) else {
      throw .malformed(
        head.text(range).contains("://")
          ? "only http:// URLs are forwarded: send CONNECT HOST:PORT for everything else"
          : "this is a proxy: ask it with the whole URL, or with CONNECT HOST:PORT")
    }
    var end = scheme.upperBound
    while end < range.upperBound, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?"),
      bytes[end] != UInt8(ascii: "#")
    { end += 1 }
    let userEnd = (scheme.upperBound..<end).first { bytes[$0] == UInt8(ascii: "@") }
    let host = (userEnd.map { $0 + 1 } ?? scheme.upperBound)..<end
    let origin = try ForwardOrigin(bytes.extracting(host), defaultPort: 80)
    // Nothing before the @ is no user info, as a browser reads it and every other URL here.
    let hasUser = userEnd.map { $0 > scheme.upperBound } ?? false
    let authorization = hasUser ? try authorization(head.bytes[scheme.upperBound..<end]) : nil
    let rest = end..<(range[end...].first { bytes[$0] == UInt8(ascii: "#") } ?? range.upperBound)
    var path = Array(head.bytes[rest])
    if path.isEmpty {
      path = bytes.extracting(method).isEqual("OPTIONS") ? [UInt8(ascii: "*")] : [UInt8(ascii: "/")]
    } else if path[0] == UInt8(ascii: "?") {
      path.insert(UInt8(ascii: "/"), at: 0)
    }
    return .absolute(origin, path: path, authorization: authorization)
  }

  /// An authority's user info as a value of `Authorization`: wget and others leave it in the URL that they send to a
  /// proxy.
  private static func authorization(_ authority: ArraySlice<UInt8>) throws(MessageFault) -> String {
    guard let text = String(validating: authority, as: UTF8.self), let url = try? WebURL("http://\(text)"),
      let credentials = url.basicCredentials
    else { throw .malformed("the URL's user name is invalid: send Authorization instead") }
    return credentials
  }

  /// The scheme `http://` or `ws://`, with its two slashes; nil if there is another one, or none.
  private static func scheme(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
    for scheme in ["http://", "ws://"] {
      let end = range.lowerBound + scheme.utf8.count
      if end <= range.upperBound, bytes.extracting(range.lowerBound..<end).isEqualIgnoringCase(scheme) {
        return range.lowerBound..<end
      }
    }
    return nil
  }
}

/// Where a connection goes.
struct ForwardOrigin: Hashable, Sendable, CustomStringConvertible {
  let host: WebURL.Host
  let port: UInt16

  init(_ host: WebURL.Host, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`.
  ///
  /// - Parameters:
  ///   - text: the text.
  ///   - defaultPort: the port if the text has none; nil if it must have one.
  /// - Throws: what is wrong with it.
  init(_ text: Span<UInt8>, defaultPort: UInt16?) throws(MessageFault) {
    let read: WebURL.HostAndPort
    do throws(DirectDNSError) { read = try WebURL.HostAndPort(text) } catch { throw .malformed(error.clause) }
    guard let port = read.port ?? defaultPort else { throw .malformed("there is no port: write HOST:PORT") }
    guard port > 0 else { throw .malformed("the port is 0, which no server has") }
    self.init(read.host, port: port)
  }

  /// The value of `Host` in a request in the clear.
  var hostField: String { port == 80 ? host.description : description }

  var description: String { "\(host):\(port)" }
}

extension Span<UInt8> {
  /// Whether it equals a text, byte for byte.
  func isEqual(_ text: String) -> Bool {
    let other = text.utf8.span
    return count == other.count && indices.allSatisfy { self[$0] == other[$0] }
  }
}
