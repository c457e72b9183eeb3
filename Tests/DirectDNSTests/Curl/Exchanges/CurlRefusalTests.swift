import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlRefusalTests {
  // What it finds after a refusal is in BrokenOriginTests: only a server can refuse.
  @Test func `a handle that was not refused remembers no refusal, however often it is asked`() throws {
    let handle = unsafe try #require(curl_easy_init())
    defer { unsafe curl_easy_cleanup(handle) }
    let before = ProcessState.descriptors + 10
    for _ in 0..<50 { #expect(unsafe !CurlRefusal.isRemembered(by: handle)) }
    #expect(ProcessState.descriptors <= before)
  }
}
