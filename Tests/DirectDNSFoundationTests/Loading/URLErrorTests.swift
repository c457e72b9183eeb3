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

  @Test(arguments: [
    // What the client says of a file of this machine's own names the client's certificate among what to look at.
    (HTTPTransportError.tlsSetup("error setting certificate file: /ca.pem"), URLError.Code.secureConnectionFailed),
    (.tlsSetup("unable to set private key file: '/key.pem' type PEM"), .secureConnectionFailed),
    (.tls("SSL routines::wrong version number"), .secureConnectionFailed),
    (.tls("SSL routines::sslv3 alert handshake failure"), .secureConnectionFailed),
    (.tls("SSL_connect: Connection reset by peer in connection to certificate.test:443"), .secureConnectionFailed),
    (.tls("SSL certificate problem: self-signed certificate"), .serverCertificateUntrusted),
    (.tls("SSL routines::tlsv1 alert unknown ca"), .clientCertificateRejected),
  ])
  func `neither a host's name nor a file of this machine's own is taken for the server's certificate`(
    _ reason: HTTPTransportError, _ expected: URLError.Code
  ) {
    let message = "TLS with https://certificate.test failed; check the client's certificate and key."
    #expect(URLError(DirectDNSError(.tlsFailed, message, underlying: reason), url: nil).code == expected)
  }
}
