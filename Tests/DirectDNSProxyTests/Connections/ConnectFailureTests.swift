// SPDX-License-Identifier: Apache-2.0
import NIOCore
import Testing

@testable import DirectDNSProxy

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct ConnectFailureTests {
  private struct Other: Error {}

  private static func failure(_ code: CInt) -> ConnectFailure {
    ConnectFailure(IOError(errnoCode: code, reason: "connect"))
  }

  @Test(arguments: [
    (ECONNREFUSED, "connection refused", "connection_refused", true),
    (ECONNRESET, "the connection was reset", "connection_terminated", true),
    (ENETUNREACH, "no route to its network", "destination_ip_unroutable", true),
    (EHOSTUNREACH, "no route to it", "destination_ip_unroutable", true),
    (ETIMEDOUT, "no answer in time", "connection_timeout", true),
    (EACCES, "not allowed", "destination_ip_prohibited", false),
    (EMFILE, "this process has no file left: raise its limit (ulimit -n)", "proxy_internal_error", false),
    (EPIPE, "broken pipe", "destination_unavailable", true),
  ])
  func `a code has its words and its type, and tells the address's faults from our own`(
    _ code: CInt, _ reason: String, _ type: String, _ isAboutAddress: Bool
  ) {
    let failure = Self.failure(code)
    #expect(failure.reason == reason && failure.type == type && failure.isAboutAddress == isAboutAddress)
  }

  @Test(arguments: [(ECONNREFUSED, 502), (ETIMEDOUT, 504), (EACCES, 403)])
  func `a code has a status`(_ code: CInt, _ status: Int) { #expect(Self.failure(code).status == status) }

  @Test(arguments: [ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL])
  func `what this machine lacks says nothing about the address`(_ code: CInt) {
    #expect(Self.failure(code).type == "proxy_internal_error" && !Self.failure(code).isAboutAddress)
  }

  @Test func `what another proxy has refused is told in its words`() {
    let named = ConnectFailure(ProxyRefusal(502, "dns_error", "It has no such name."))
    let refused = ConnectFailure(ProxyRefusal(502, nil, "The upstream proxy does not connect to it: no route."))
    #expect(refused.reason == "the upstream proxy does not connect to it: no route")
    #expect(named.reason == "It has no such name" && named.type == "dns_error" && named.isAboutAddress)
    #expect(ConnectFailure(ProxyRefusal(502, nil, "No.")).type == "destination_unavailable" && !named.isLoop)
  }

  @Test func `that the proxy itself is there says nothing about reaching the address`() {
    let failure = ConnectFailure(ProxyRefusal(403, "proxy_loop_detected", "this proxy itself listens there"))
    #expect(failure.isLoop && !failure.isAboutAddress && failure.status == 403)
  }

  @Test func `whatever else failed is a failed connection`() {
    let failure = ConnectFailure(Other())
    #expect(failure.reason == "the connection failed" && failure.type == "destination_unavailable")
    #expect(failure.isAboutAddress)
  }
}
