// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// A request that goes straight to an address, and in everything else is a request to the name.
///
/// Made by ``RequestRewriter``. ``ResponseRestorer`` puts the name back into its response.
public struct DirectRequest: Hashable, Sendable {
  /// Where the address is.
  public enum Form: String, Hashable, Sendable, CaseIterable {
    /// In the URL: `https://192.0.2.1/x`, with `Host` and `originalUrl` for the name.
    ///
    /// Any client can send it over http. Over https, only a client can that takes the server's name separately:
    /// otherwise it would verify the URL's host.
    case literal
    /// Not in the URL, which keeps the name: only the connection goes to the address.
    ///
    /// For clients that can be told where to connect, such as libcurl by `CURLOPT_CONNECT_TO`.
    case pinned
  }

  /// Where the address is.
  public let form: Form
  /// The request to send: without user info and fragment, and with one `Host` at most.
  public let request: HTTPRequest
  /// The URL of ``request``: of the address in the literal form, of the name in the pinned form.
  public let url: WebURL
  /// The URL that the caller asked for, user info and fragment included.
  public let originalURL: WebURL
  /// The value of the `Host` field: the name and a port that is not the default, or what the caller set.
  public let host: String
  /// The name for SNI (RFC 6066 §3) and the certificate check; nil without TLS.
  public let serverName: HostName?
  /// The addresses that may be connected to, in the order in which to try them; never empty.
  public let addresses: [IPAddress]
  /// Every address of the answer, including forbidden ones: a response may have any of them in place of the name.
  public let answer: [IPAddress]

  /// The address that the request goes to: the first of ``addresses``.
  public var address: IPAddress { addresses[0] }

  /// The port that the connection goes to.
  public var port: UInt16 { originalURL.effectivePort }

  /// The value of the `originalUrl` field: the URL with the name and its user info, without the fragment.
  ///
  /// It may hold secrets: do not log it, and do not send it to an origin that is not yours.
  public var originalURLField: String { originalURL.text(fragment: false) }
}

extension HTTPField.Name {
  /// The field that carries a rewritten request's own URL, with the name.
  public static let originalURL = token("originalUrl")

  /// `Host`; a request can do without it if ``HTTPRequest/authority`` names its server.
  public static let hostField = token("Host")
  static let refresh = token("Refresh")

  /// Creates a name that is known to be a token; any other is a mistake in the source, and stops the process.
  static func token(_ text: StaticString) -> HTTPField.Name {
    // Texts come from the source alone.
    guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is not a token") }
    return name
  }
}

/// The result of rewriting a request.
public enum RewriteOutcome: Sendable {
  /// The request goes straight to an address.
  case direct(DirectRequest)
  /// The request is sent in the ordinary way: it is returned as it came, but without a foreign `originalUrl`.
  case bypassed(HTTPRequest, reason: BypassReason)
  /// The request must not be sent: to its address, or at all.
  case refused(DirectDNSError)

  /// Why a request is not rewritten.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum BypassReason: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The URL names an address: there is nothing to look up.
    case addressLiteral
    /// The request was rewritten before.
    case alreadyRewritten
    /// The URL's scheme is not http, https, ws or wss.
    case otherScheme
    /// The ``DirectSwitch`` is off for the name.
    case directOff
    /// The request goes through a proxy, which connecting by address would break.
    case proxy
    /// No address of the name is known.
    case noAddress
    /// The request goes over TLS by a client that takes only a URL, and is configured to send such requests by name:
    /// `SecureURLRequests.byName` of `DirectDNSFoundation`.
    case secureByName

    /// The reason in words.
    public var description: String {
      switch self {
      case .addressLiteral: "the URL names an address, so there is nothing to look up"
      case .alreadyRewritten: "the request was rewritten before"
      case .otherScheme: "only requests of http, https, ws and wss are rewritten"
      case .directOff: "direct connect is switched off for the name"
      case .proxy: "the request goes through a proxy, which needs the name"
      case .noAddress: "no address of the name is known"
      case .secureByName: "the certificate is checked against the URL's host, which has to be the name"
      }
    }
  }

  /// The request that goes straight to an address, if it does.
  public var direct: DirectRequest? {
    if case .direct(let request) = self { request } else { nil }
  }
}
