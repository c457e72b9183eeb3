// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCares
import Testing

@testable import DirectDNS

struct CaresErrorTests {
  @Test(arguments: [
    (directdns_ares_notfound, CaresError.nameNotFound), (directdns_ares_nodata, .noAddress),
    (directdns_ares_timeout, .timedOut), (directdns_ares_refused, .refused),
  ])
  func `the codes that a lookup tells apart have cases of their own`(_ code: Int32, _ error: CaresError) {
    #expect(CaresError(code) == error)
  }

  @Test(arguments: [directdns_ares_servfail, directdns_ares_connrefused, -1, 9999])
  func `any other code is a failure in c-ares' own words`(_ code: Int32) {
    guard case .failed(let reason) = CaresError(code) else {
      Issue.record("another case")
      return
    }
    #expect(!reason.isEmpty && CaresError(code).description == reason)
  }

  @Test func `an error says what happened`() {
    #expect(
      CaresError.nameNotFound.description == "name not found"
        && CaresError.noAddress.description == "no address")
    #expect(
      CaresError.timedOut.description == "timed out" && CaresError.refused.description == "refused the query")
  }
}
