// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Errors in Foundation's terms")
struct URLErrorTests {
  private static let codes: [(DirectDNSError.Code, URLError.Code)] = [
    (.invalidURL, .badURL), (.invalidName, .badURL), (.nameNotFound, .cannotFindHost), (.noAddress, .cannotFindHost),
    (.upstreamFailed, .dnsLookupFailed), (.timedOut, .timedOut), (.connectFailed, .cannotConnectToHost),
    (.addressForbidden, .cannotConnectToHost), (.connectionLost, .networkConnectionLost),
    (.malformedResponse, .cannotParseResponse),
    (.tooManyRedirects, .httpTooManyRedirects), (.redirectRefused, .redirectToNonExistentLocation),
    (.bodyNotReplayable, .requestBodyStreamExhausted), (.bodyTooLarge, .dataLengthExceedsMaximum),
    (.fieldsTooLarge, .dataLengthExceedsMaximum),
    (.cancelled, .cancelled), (.shutDown, .unknown),
  ]

  @Test(arguments: codes.indices) func `a code has one of Foundation's`(_ index: Int) throws {
    let (code, expected) = Self.codes[index]
    let url = try #require(URL(string: "https://shop.test/"))
    let error = URLError(DirectDNSError(code, "what to do"), url: url)
    #expect(error.code == expected && error.directError?.code == code)
    #expect(error.failingURL == url && error.localizedDescription == "what to do")
  }

  @Test(arguments: [
    ("certificate has expired", URLError.Code.serverCertificateHasBadDate),
    ("certificate is not yet valid", .serverCertificateNotYetValid),
    ("SSL certificate problem: self-signed certificate", .serverCertificateUntrusted),
    ("SSL: no alternative certificate subject name matches target host name", .serverCertificateUntrusted),
    ("SSL routines::tlsv13 alert certificate required, errno 0", .clientCertificateRequired),
    ("SSL routines::tlsv1 alert unknown ca; show the server a certificate that it takes", .clientCertificateRejected),
    ("SSL routines::tlsv1 alert protocol version", .secureConnectionFailed),
    ("wrong version number", .secureConnectionFailed),
  ]) func `TLS that fails says why`(_ message: String, _ expected: URLError.Code) {
    #expect(URLError(DirectDNSError(.tlsFailed, message), url: nil).code == expected)
  }
}
