import Testing

@testable import DirectDNS

struct DirectDNSErrorTests {
  @Test func `an error shows its message, and below it each provider that was asked`() {
    let error = DirectDNSError(
      .upstreamFailed, "nobody answered",
      attempts: [.init(provider: "one", reason: "timed out"), .init(provider: "two", reason: "HTTP 500")])
    #expect("\(error)" == "nobody answered\n  one: timed out\n  two: HTTP 500")
  }

  @Test func `a code is spelled the same for programs and for metrics`() {
    #expect(DirectDNSError.Code.nameNotFound.description == "nameNotFound")
    #expect(DirectDNSError.Code.timedOut != .upstreamFailed)
    #expect(DirectDNSError(.refused, "x").attempts.isEmpty)
  }
}
