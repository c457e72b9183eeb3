// SPDX-License-Identifier: Apache-2.0
public import HTTPTypes

/// What came of rewriting a request.
public enum RewriteOutcome: Sendable {
  /// The request goes straight to an address.
  case direct(DirectRequest)
  /// The request goes as any other would: it is handed back as it came, without a foreign `originalUrl`.
  case bypassed(HTTPRequest, reason: BypassReason)
  /// The request must not be sent: to its address, or at all.
  case refused(DirectDNSError)

  /// Why a request is not rewritten.
  public enum BypassReason: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The URL names an address: there is nothing to look up.
    case addressLiteral
    /// The request was rewritten before.
    case alreadyRewritten
    /// The URL's scheme is not http, https, ws or wss.
    case otherScheme
    /// The name is on the list of those that are left alone.
    case bypassList
    /// The ``DirectSwitch`` is off for the name.
    case directOff
    /// The request goes through a proxy, which connecting by address would break.
    case proxy
    /// No address of the name is known.
    case noAddress

    /// The reason in words.
    public var description: String {
      switch self {
      case .addressLiteral: "the URL names an address, so there is nothing to look up"
      case .alreadyRewritten: "the request was rewritten before"
      case .otherScheme: "only requests of http, https, ws and wss are rewritten"
      case .bypassList: "the name is on the list of those that are left alone"
      case .directOff: "direct connect is switched off for the name"
      case .proxy: "the request goes through a proxy, which needs the name"
      case .noAddress: "no address of the name is known"
      }
    }
  }

  /// The request that goes straight to an address, if it does.
  public var direct: DirectRequest? {
    if case .direct(let request) = self { request } else { nil }
  }
}
