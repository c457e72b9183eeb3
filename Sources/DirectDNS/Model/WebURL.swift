// SPDX-License-Identifier: Apache-2.0
/// A URL of http, https, ws or wss, read by the WHATWG URL standard: as a browser reads it.
///
/// It is the only URL parser of this library, so policy, DNS, the `Host` field and the connection can never
/// disagree about where a URL leads. Other schemes are refused. Two URLs are equal when their ``href`` is.
///
/// A URL that already is written as a browser would write it is only scanned, without an allocation. A part is
/// copied out of the whole when it is asked for.
public struct WebURL: Sendable {
  /// The schemes that lead to an HTTP server.
  public enum Scheme: String, Sendable, Hashable, CaseIterable {
    /// HTTP without TLS.
    case http
    /// HTTP over TLS.
    case https
    /// A WebSocket without TLS.
    case ws
    /// A WebSocket over TLS.
    case wss

    /// The port of a URL that names none: 80 or 443.
    public var defaultPort: UInt16 { isSecure ? 443 : 80 }

    /// Whether the scheme means TLS.
    public var isSecure: Bool { self == .https || self == .wss }
  }

  /// The whole URL as text (WHATWG URL §4.5); reading it again gives an equal URL.
  public let href: String
  let layout: Layout

  /// Reads an absolute URL.
  ///
  /// - Parameter text: the URL, spelled as freely as a browser permits.
  /// - Throws: `invalidURL`, saying which part is wrong and what to do. The message never holds user info,
  ///   path or query, which may be secrets.
  public init(_ text: String) throws(DirectDNSError) {
    if let layout = Layout.canonical(text) {
      self.init(href: text, layout: layout)
    } else {
      var parser = WebURLParser(text)
      self = try parser.url(base: nil)
    }
  }

  /// Resolves a reference, such as the value of `Location`, against the URL that it was found at.
  ///
  /// - Parameters:
  ///   - reference: an absolute URL, or one relative to the base: `//host/x`, `/x`, `x`, `?x`, `#x`.
  ///   - base: the URL that a relative reference is relative to.
  /// - Throws: `invalidURL`, saying which part is wrong and what to do.
  public init(_ reference: String, base: WebURL) throws(DirectDNSError) {
    if let layout = Layout.canonical(reference) {
      self.init(href: reference, layout: layout)
    } else {
      var parser = WebURLParser(reference)
      self = try parser.url(base: base)
    }
  }

  init(href: String, layout: Layout) {
    self.href = href
    self.layout = layout
  }
}

extension WebURL: Hashable {
  /// Whether two URLs are written in the same way.
  public static func == (lhs: WebURL, rhs: WebURL) -> Bool { lhs.href == rhs.href }

  /// Feeds the whole URL's text.
  public func hash(into hasher: inout Hasher) { hasher.combine(href) }
}

extension WebURL: Codable {
  /// Decodes a URL from its text.
  public init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    do {
      self = try WebURL(text)
    } catch {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.message))
    }
  }

  /// Encodes the URL as its ``href``, user info included.
  public func encode(to encoder: any Encoder) throws { try href.encode(to: encoder) }
}

/// Scheme, host and port of a URL: credentials are sent to one origin only (RFC 6454).
///
/// A sub-domain, another port, and the same name with a final dot are other origins.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// The scheme.
  public let scheme: WebURL.Scheme
  /// The host, as the URL has it.
  public let host: WebURL.Host
  /// The port that connections go to.
  public let port: UInt16

  /// The origin of a URL.
  public init(_ url: WebURL) {
    scheme = url.scheme
    host = url.host
    port = url.effectivePort
  }

  /// The origin as text, such as `https://a.example` or `http://a.example:8080` (RFC 6454 §6.2).
  public var description: String {
    "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
  }
}
