// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLSessionConfiguration {
  /// Lets the http and https requests of the sessions made with this configuration go direct, through a client.
  ///
  /// Call it last: cookie storage, cookie policy, additional headers and timeouts are taken over as they are now, since
  /// Foundation tells a protocol nothing of its session. Another call replaces the client, for sessions made after it.
  ///
  /// Not for a background session of Apple's systems, which takes no protocol: its requests go past the client's policy.
  ///
  /// The client follows redirects by its own rules and adds its own cookies, if it has a jar; leave that out, and the
  /// session's storage is the only one. It is kept until the process ends, as Foundation does not tell when a session
  /// does: shut it down when it has served.
  ///
  /// - Parameters:
  ///   - client: what resolves, judges, connects and sends.
  ///   - streamsToDelegate: whether a delegate gets a body piece by piece; false by default: it gets it whole. Only say
  ///     so for sessions none of whose tasks has a completion handler: on Linux a protocol cannot tell such tasks from
  ///     others, and Foundation hands them the last piece for the whole. Has no effect on Apple's systems, where pieces
  ///     are always handed on.
  public func goDirect(through client: DirectClient, streamsToDelegate: Bool = false) {
    let route = LoadingRoute(.success(client), self, streamsToDelegate: streamsToDelegate)
    let others = (protocolClasses ?? []).filter { !($0 is DirectURLProtocol.Type) }
    protocolClasses = [RouteTable.shared.makeClass(for: route)] + others
  }
}
