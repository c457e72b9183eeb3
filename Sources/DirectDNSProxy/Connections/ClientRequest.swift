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
  /// What `Max-Forwards` says to the next hop.
  var maxForwards: Int?

  init(_ head: MessageHead, _ framing: BodyFraming, method: String, _ target: ForwardTarget, began: NIODeadline) {
    self.head = head
    self.framing = framing
    self.method = method
    self.target = target
    self.began = began
    via = ProxyVia(head)
  }

  var progress: BodyProgress { BodyProgress(framing) }
  /// Whether it does no harm when it is done though nobody waits for it, or done twice (RFC 9110 §9.2.2).
  var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method) }
  /// Whether it can be sent once more: what has gone on of a body is not kept.
  var canBeRetried: Bool { framing == .none && isIdempotent }
  var isConnect: Bool { if case .authority = target { true } else { false } }

  /// The value of `Authorization` for one that has none but user info in its URL.
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

  /// Whether its `Host`, which was found to be one, is an address or `localhost`.
  var isForLocalHost: Bool {
    guard let value = head.onlyValue(.host), let url = try? WebURL("http://" + head.text(value)) else { return false }
    return switch url.host {
    case .address: true
    case .name(let name): name == "localhost"
    }
  }

  /// Whether its body can be read to its end when it is refused: what waits for `100 Continue` may never come.
  var hasDrainableBody: Bool {
    switch framing {
    case .none: true
    case .length(let length): length <= 1 << 20 && !head.contains(.expect)
    case .chunked: !head.contains(.expect)
    case .untilClose: false
    }
  }
}
