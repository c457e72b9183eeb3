// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Where a request goes once it was looked up and judged.
///
/// A class, which one task has to itself: a copy at each step of the request would cost a retain of each part.
final class RequestTarget {
  /// What is requested: the name, no user info, no fragment.
  let url: WebURL
  /// What the caller asked for.
  let original: WebURL
  private(set) var fields: HTTPFields
  /// The addresses that may be connected to, in the order of use.
  private(set) var addresses: [IPAddress]
  let proxy: CurlProxy?
  /// What the name may be hidden behind in a response; nil for a request that goes as it is.
  private let answer: [IPAddress]?
  var resolution: Resolution?
  /// The family that the lookup did not wait for.
  var others: OtherFamily?
  var lookup = Duration.zero

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - original: what the caller asked for.
  ///   - fields: the fields that go out.
  ///   - addresses: those that may be connected to, in the order of use.
  ///   - answer: every address of the name, if the request goes straight to one of them.
  ///   - proxy: what it goes through.
  init(_ original: WebURL, _ fields: HTTPFields, _ addresses: [IPAddress], answer: [IPAddress]?, proxy: CurlProxy?) {
    url = original.requested
    self.original = original
    self.fields = fields
    self.addresses = addresses
    self.answer = answer
    self.proxy = proxy
  }

  /// Whether the request goes to this machine, wherever it is tried.
  var staysOnMachine: Bool {
    proxy == nil && others == nil && !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
  }

  /// Tries an address after all others.
  func moveToEnd(_ address: IPAddress?) {
    guard let address, let index = addresses.firstIndex(of: address) else { return }
    addresses.append(addresses.remove(at: index))
  }

  /// Leaves out an expectation that the server refused (RFC 9110 §10.1.1).
  func dropExpectation() { fields[.expect] = nil }

  /// The answer that named an address; nil through a proxy.
  func resolution(of address: IPAddress?) -> Resolution? {
    guard proxy == nil else { return nil }
    if let address, let other = others?.resolution, other.addresses.contains(address) { return other }
    return resolution
  }

  /// A response with the name put back where an address of the name stands.
  func restore(_ head: ResponseHead) -> HTTPResponse {
    guard let answer, head.hasRestorableField else { return head.response }
    let late = others?.resolution?.addresses
    // A password is no part of what a server said: heads are logged. Redirects keep it by themselves.
    let base = original.hasUserInfo ? (try? WebURL(original.text(userInfo: false))) ?? original : original
    return ResponseRestorer(originalURL: base, addresses: late.map { answer + $0 } ?? answer).restore(head.response)
  }
}
