// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The DirectDNS proxies that a request has come through, so that a loop is noticed.
///
/// `Via` (RFC 9110 §7.6.3) would tell every origin that there is a proxy. This field is only for the next proxy:
/// `Connection` names it, so that a proxy of another kind drops it, and one of ours sends it only to proxies.
struct ProxyVia: Equatable {
  /// More proxies than that in a row are a loop through one that does not pass the field on.
  static let limit = 16

  /// A random mark of each proxy, oldest first.
  private(set) var marks: [String] = []

  /// A new proxy's mark: random, so that it says nothing about who made it.
  static func makeMark() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// None yet.
  init() {}

  /// Those that a request names.
  init(_ head: MessageHead) {
    head.forEachToken(of: .proxyVia) { range in
      if range.allSatisfy({ head.bytes[$0].isTokenByte }) { marks.append(head.text(range)) }
    }
  }

  /// Whether a proxy must not send it on: it has done so already, or too many proxies have.
  func isLoop(at mark: String) -> Bool { marks.contains(mark) || marks.count > Self.limit }

  /// The same with one more proxy.
  func adding(_ mark: String) -> ProxyVia {
    var next = self
    next.marks.append(mark)
    return next
  }

  /// The field's line with its end; empty if there is no proxy.
  var line: String { marks.isEmpty ? "" : "DirectDNS-Via: \(marks.joined(separator: ", "))\r\n" }
}
