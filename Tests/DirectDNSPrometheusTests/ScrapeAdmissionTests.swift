// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSPrometheus

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

struct ScrapeAdmissionTests {
  private func at(_ milliseconds: Int64) -> ResolverInstant { ResolverInstant(nanoseconds: milliseconds * 1_000_000) }

  @Test func `while there is room anybody may come in`() {
    let admission = ScrapeAdmission(limit: 2)
    #expect(admission.nextAccept(0, slowest: nil) < at(0))
    #expect(admission.nextAccept(1, slowest: at(1000)) < at(1000))
    #expect(!admission.isFull(1))
  }

  @Test func `where there is none the slowest goes, after its grace`() {
    let admission = ScrapeAdmission(limit: 2)
    #expect(admission.isFull(2))
    #expect(admission.nextAccept(2, slowest: at(1000)) == at(1100))
  }

  @Test func `after a refusal the slowest gives its descriptor up, and the next may come in at once`() {
    var admission = ScrapeAdmission(limit: 4)
    let closes = admission.descriptorsExhausted(slowest: at(1900), at: at(2000))
    #expect(closes && admission.nextAccept(3, slowest: at(1950)) < at(2000))
  }

  @Test(arguments: [1901, nil] as [Int64?])
  func `where nobody has had its grace, nobody is accepted for a while`(_ slowest: Int64?) {
    var admission = ScrapeAdmission(limit: 4)
    let closes = admission.descriptorsExhausted(slowest: slowest.map(at), at: at(2000))
    #expect(!closes)
    for count in [0, 1, 4] { #expect(admission.nextAccept(count, slowest: at(1900)) == at(2100)) }
    #expect(admission.nextAccept(4, slowest: at(2050)) == at(2150))
  }

  @Test func `after a failure of another kind nobody is closed, and nobody is accepted for a while`() {
    var admission = ScrapeAdmission(limit: 4)
    admission.failed(at: at(2000))
    #expect(admission.nextAccept(1, slowest: at(1000)) == at(2100))
  }

  @Test(arguments: [
    (EAGAIN, EndpointSocket.Acceptance.nothing), (EINTR, .nothing), (ECONNABORTED, .nothing), (EMFILE, .refused),
    (ENFILE, .refused), (ENOBUFS, .refused), (ENOMEM, .refused), (EBADF, .failed), (EINVAL, .failed), (EPERM, .failed),
    (ENETDOWN, .failed),
  ])
  func `an error that may come again at once is a refusal where descriptors or memory lack, else a failure`(
    _ code: Int32, _ meaning: EndpointSocket.Acceptance
  ) {
    #expect(EndpointSocket.acceptance(code) == meaning)
  }
}
