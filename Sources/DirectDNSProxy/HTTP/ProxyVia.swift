// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The proxies of this kind that a request has come through, so that one that comes round is seen.
///
/// `Via` (RFC 9110 §7.6.3) would tell every origin that there is a proxy. This field is for the next proxy alone: it stands
/// in `Connection`, so that a proxy of another kind drops it, and one of ours sends it on to proxies alone.
struct ProxyVia: Equatable {
  /// More proxies than that in a row are a loop through one that does not pass the field on.
  static let limit = 16

  /// A number of its own for each, oldest first.
  private(set) var marks: [String] = []

  /// A new proxy's mark: random, so that it says nothing about who made it.
  static func makeMark() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// Nobody yet.
  init() {}

  /// Those that a request names.
  init(_ head: MessageHead) {
    head.forEachToken(of: .proxyVia) { range in
      if range.allSatisfy({ head.bytes[$0].isTokenByte }) { marks.append(head.text(range)) }
    }
  }

  /// Whether a proxy may not send it on: it has done so already, or too many others have.
  func isLoop(at mark: String) -> Bool { marks.contains(mark) || marks.count > Self.limit }

  /// The same behind another proxy.
  func adding(_ mark: String) -> ProxyVia {
    var next = self
    next.marks.append(mark)
    return next
  }

  /// The field's line with its end; empty where nobody is named.
  var line: String { marks.isEmpty ? "" : "DirectDNS-Via: \(marks.joined(separator: ", "))\r\n" }
}
