// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TLSFaultTests {
  // What OpenSSL 3.0 and libcurl 7.88 say, and of a text in place of TLS OpenSSL 3.4.
  @Test(
    arguments: [
      ("SSL certificate problem: certificate has expired", .expired),
      ("SSL certificate problem: certificate is not yet valid", .notYetValid),
      ("SSL: no alternative certificate subject name matches target host name 'dns.test'", .otherName),
      ("SSL: certificate subject name 'a.test' does not match target host name 'dns.test'", .otherName),
      ("hostname mismatch", .otherName), ("IP address mismatch", .otherName),
      ("SSL certificate problem: self-signed certificate", .untrusted),
      ("SSL certificate problem: self-signed certificate in certificate chain", .untrusted),
      ("SSL certificate problem: unable to get local issuer certificate", .untrusted),
      ("SSL certificate problem: unable to verify the first certificate", .untrusted),
      ("error:0A00010B:SSL routines::wrong version number", .notSpoken),
      ("TLS connect error: error:0A0000C6:SSL routines::packet length too long", .notSpoken),
      ("error:0A000410:SSL routines::sslv3 alert handshake failure", nil),
      ("OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0", nil), ("", nil),
    ] as [(String, TLSFault?)])
  func `the words of OpenSSL and libcurl tell what is wrong with a certificate or TLS`(
    _ reason: String, _ fault: TLSFault?
  ) {
    #expect(TLSFault(reason) == fault)
    #expect(HTTPTransportError.tls(reason).tlsFault == fault)
    #expect(HTTPTransportError.connect(reason).tlsFault == nil)
  }

  @Test func `only what is about time may be the clock's`() {
    #expect(TLSFault.expired.mayBeTheClock && TLSFault.notYetValid.mayBeTheClock)
    #expect(!TLSFault.otherName.mayBeTheClock && !TLSFault.untrusted.mayBeTheClock)
  }
}
