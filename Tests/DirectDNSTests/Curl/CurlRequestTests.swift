import Testing

@testable import DirectDNS

struct CurlRequestTests {
  private let lane = CurlLane(
    origin: "https://a.test:443", addresses: nil, usesTLS: true, trust: CurlTrust(), width: 50)

  @Test func `what differs in origin, addresses, security or trust is another lane`() {
    var others: [CurlLane] = []
    for change in [
      { $0.origin = "https://b.test:443" }, { $0.addresses = "a.test:443:192.0.2.1" },
      { $0.connectTo = "::a.test:1" }, { $0.usesTLS = false },
      { $0.trust.file = "/ca.pem" }, { $0.trust.folder = "/certs" },
      { $0.trust.blob = CurlCertificates([1]) },
    ] as [(inout CurlLane) -> Void] {
      var other = lane
      change(&other)
      others.append(other)
    }
    let first = lane()
    let again = first
    #expect(first === again)
    #expect(first !== lane())
  }
}
