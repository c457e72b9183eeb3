// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// A request as it was read.
final class ClientRequest {
  let head: MessageHead
  let framing: BodyFraming
  let method: String
  let target: ForwardTarget
  /// When its first byte came.
  let began: NIODeadline
  let via: ProxyVia
  /// The `Max-Forwards` for the next hop; nil leaves the field as it is.
  var maxForwards: Int?
  /// The user, once the password was found right.
  var user: String?

  init(_ head: MessageHead, _ framing: BodyFraming, method: String, _ target: ForwardTarget, began: NIODeadline) {
    self.head = head
    self.framing = framing
    self.method = method
    self.target = target
    self.began = began
    via = ProxyVia(head)
  }

  var progress: BodyProgress { BodyProgress(framing, below: head) }
  /// Whether it does no harm if it is carried out for a client that is gone, or twice (RFC 9110 §9.2.2).
  var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method) }
  /// Whether it can be sent again; the sent part of a body is not kept for that.
  var canBeRetried: Bool { framing == .none && isIdempotent }
  var isConnect: Bool { if case .authority = target { true } else { false } }

  /// The value of `Authorization` from its URL's user info, if it has no such field.
  var authorization: String? {
    guard case .absolute(_, _, let authorization) = target, !head.contains(.authorization) else { return nil }
    return authorization
  }

  var origin: ForwardOrigin? {
    switch target {
    case .absolute(let origin, _, _), .authority(let origin): origin
    case .own: nil
    }
  }

  /// The path of its URL, without the query, which often holds secrets; nil for a tunnel, and for a page of the proxy's
  /// own.
  var path: String? {
    guard case .absolute(_, let path, _) = target else { return nil }
    return String(decoding: path.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
  }

  /// Whether its `Host`, which was checked, is an address or `localhost`.
  var isForLocalHost: Bool {
    guard let value = head.onlyValue(.host), let url = try? WebURL("http://" + head.text(value)) else { return false }
    return switch url.host {
    case .address: true
    case .name(let name): name == "localhost"
    }
  }

  /// Whether its client waits for `100 Continue`, and may never send the body without it.
  var awaitsContinue: Bool { head.minorVersion == 1 && head.contains(.expect) }

  /// Whether its body can be read to its end after a refusal.
  var hasDrainableBody: Bool {
    switch framing {
    case .none: true
    case .length(let length): length <= 1 << 20 && !awaitsContinue
    case .chunked: !awaitsContinue
    case .untilClose: false
    }
  }
}
