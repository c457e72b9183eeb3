import Testing

@testable import DirectDNS

struct CurlRequestTests {
  @Test func `a lane is what it is by identity, whatever another one says`() {
    func lane() -> CurlLane {
      CurlLane(origin: "https://a.test:443", usesTLS: true, trust: CurlTrust(file: "/ca.pem"), width: 50)
    }
    let first = lane()
    let again = first
    #expect(first === again)
    #expect(first !== lane())
  }
}
