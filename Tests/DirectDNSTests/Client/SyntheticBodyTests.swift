// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct SyntheticBodyTests {
  private func response(_ body: ResponseBody) throws -> DirectResponse {
    DirectResponse(head: HTTPResponse(status: .ok), url: try WebURL("https://shop.test/"), body: body)
  }

  private struct Broken: Error {}

  @Test func `a response can be made without a connection`() async throws {
    let response = try response(.bytes(Array("hello".utf8), trailerFields: [.eTag: "x"]))
    #expect(response.status == .ok && response.hops.isEmpty && response.resolution == nil)
    #expect(response.connection.remoteAddress == nil && response.connection.remotePort == 443)
    #expect(response.timings.total == .zero)
    #expect(response.body.trailerFields.isEmpty)
    #expect(try await response.body.text() == "hello")
    #expect(response.body.trailerFields == [.eTag: "x"])
    #expect(try await response.body.text() == "")
  }

  @Test func `a sequence's pieces come as they are, and a loop that was left is gone on with`() async throws {
    let body = ResponseBody.stream(AsyncStream.of([[1], [2, 3], [4]]))
    for try await piece in body {
      #expect(piece == [1])
      break
    }
    #expect(try await body.collect(upTo: 10) == [2, 3, 4])
  }

  @Test func `what a sequence throws is the reader's, each time`() async throws {
    let own = DirectDNSError(.timedOut, "too slow")
    for (thrown, code) in [(own, DirectDNSError.Code.timedOut), (Broken(), .connectionLost)] as [(any Error, _)] {
      let body = ResponseBody.stream(
        AsyncThrowingStream<[UInt8], any Error> { pieces in
          pieces.yield([1])
          pieces.finish(throwing: thrown)
        })
      for _ in 0..<2 {
        let error = await #expect(throws: DirectDNSError.self) { try await body.collect(upTo: 10) }
        #expect(error?.code == code)
      }
    }
  }

  @Test func `a body that was cancelled is never taken for whole`() async throws {
    let body = ResponseBody.bytes([1, 2])
    body.cancel()
    let error = await #expect(throws: DirectDNSError.self) { try await body.collect(upTo: 10) }
    #expect(error?.code == .cancelled)

    let endless = ResponseBody.stream(AsyncStream<[UInt8]> { _ in })
    let reader = Task { try await endless.collect(upTo: 10) }
    reader.cancel()
    let failure = await #expect(throws: DirectDNSError.self) { try await reader.value }
    #expect(failure?.code == .cancelled)
  }

  @Test func `a second reader gets an error, and cancel() ends the first one's wait`() async throws {
    let body = ResponseBody.stream(AsyncStream<[UInt8]> { _ in })
    let readers = (0..<2).map { _ in Task { try await body.collect(upTo: 10) } }
    // One of them waits; which of them came first does not matter.
    let first = await withTaskGroup(of: DirectDNSError.Code?.self) { group in
      for reader in readers {
        group.addTask {
          if case .failure(let error as DirectDNSError) = await reader.result { error.code } else { nil }
        }
      }
      let first = await group.next()
      body.cancel()
      let second = await group.next()
      return [first, second]
    }
    #expect(first == [.invalidRequest, .cancelled])
  }

  @Test func `a body that is longer than its limit is an error`() async throws {
    let body = ResponseBody.bytes([1, 2, 3])
    let error = await #expect(throws: DirectDNSError.self) { try await body.collect(upTo: 2) }
    #expect(error?.code == .bodyTooLarge)
  }
}

extension AsyncStream where Element: Sendable {
  fileprivate static func of(_ elements: [Element]) -> AsyncStream {
    AsyncStream { pieces in
      for element in elements { pieces.yield(element) }
      pieces.finish()
    }
  }
}
