import Testing

@testable import DirectDNS

struct CurlEasyTests {
  private let lane = CurlLane(
    origin: "http://127.0.0.1:1", addresses: nil, usesTLS: false, trust: CurlTrust(), width: 50)

  private let sockets = CurlSockets()

  @Test func `a handle leads back to its object`() throws {
    let easy = try #require(CurlEasy(lane, sockets: sockets))
    let other = try #require(CurlEasy(lane, sockets: sockets))
    #expect(unsafe CurlEasy.object(of: easy.handle) === easy)
    #expect(unsafe CurlEasy.object(of: other.handle) === other)
  }

  @Test func `a handle that sent nothing has an empty response`() throws {
    let easy = try #require(CurlEasy(lane, sockets: sockets))
    easy.prepare(
      CurlRequest(
        lane: lane, url: "http://127.0.0.1:1/", fields: ["accept: x"], body: [1], timeout: 1, bodyLimit: 1,
        wantedFields: ["Age"]))
    let response = easy.response(["Age"])
    #expect(response.status == 0 && response.body == [] && response.fields.isEmpty && response.address == "")
    #expect(!easy.isOverLimit)
  }

  @Test func `a thousand handles come and go`() {
    for _ in 0..<1000 { #expect(CurlEasy(lane, sockets: sockets) != nil) }
  }
}
