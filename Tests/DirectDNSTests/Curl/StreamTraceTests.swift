// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct StreamTraceTests {
  private func isUnprocessed(_ lines: String...) -> Bool {
    var trace = StreamTrace()
    for line in lines { _ = trace.take(Array(line.utf8).span) }
    return trace.isUnprocessed
  }

  private static let opened = "Using Stream ID: 15 (easy handle 0x7f)\n"

  @Test func `a stream above the last one of GOAWAY was not processed`() {
    #expect(isUnprocessed(Self.opened, "recveived GOAWAY, error=0, last_stream=13\n"))
    #expect(isUnprocessed("[HTTP/2] [15] OPENED stream for https://a/\n", "received GOAWAY, error=0, last_stream=13\n"))
    // The first one says that the end is near, and the second one where it is (RFC 9113 §6.8).
    #expect(
      isUnprocessed(
        Self.opened, "received GOAWAY, error=0, last_stream=2147483647\n", "received GOAWAY, error=0, last_stream=13"))
  }

  @Test(arguments: [
    "recveived GOAWAY, error=0, last_stream=15\n", "recveived GOAWAY, error=0, last_stream=2147483647\n",
    "recveived GOAWAY, error=0, last_stream=", "recveived GOAWAY, error=0", "", "r", "received", "x: GOAWAY",
    "x GOAWAY, error=0, last_stream=1", "Connection #0 to host a left intact\n", "h2h3 [x: GOAWAY, last_stream=1]",
  ])
  func `any other may have been`(_ line: String) {
    #expect(!isUnprocessed(Self.opened, line))
    #expect(!isUnprocessed(line))
  }

  @Test func `a stream that was refused was not processed, and its retry may have been`() {
    let refused = "REFUSED_STREAM, retrying a fresh connect\n"
    #expect(isUnprocessed(Self.opened, refused))
    #expect(!isUnprocessed(Self.opened, refused, "Using Stream ID: 1 (easy handle 0x7f)\n"))
  }

  @Test func `nothing is known of a request that is sent once more`() {
    var trace = StreamTrace()
    for line in [Self.opened, "REFUSED_STREAM, retrying a fresh connect\n"] { _ = trace.take(Array(line.utf8).span) }
    #expect(trace.isUnprocessed)
    trace.startOver()
    trace.end(after: 0)
    #expect(!trace.isUnprocessed)
  }

  @Test func `what another request of the connection has read counts`() {
    var (reader, trace) = (StreamTrace(), StreamTrace())
    _ = trace.take(Array(Self.opened.utf8).span)
    #expect(reader.take(Array("received GOAWAY, error=0, last_stream=13\n".utf8).span) == 13)
    trace.end(after: 13)
    #expect(trace.isUnprocessed)
  }

  @Test func `what a connection said holds for its own streams`() {
    #expect(!isUnprocessed(Self.opened, "received GOAWAY, error=0, last_stream=13", "Using Stream ID: 1 (easy"))
    #expect(!isUnprocessed("received GOAWAY, error=0, last_stream=13"))
  }
}
