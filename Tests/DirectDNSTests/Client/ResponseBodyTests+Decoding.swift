// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// Bodies that are compressed, and what little of one may decode to.
extension ResponseBodyTests {
  /// Zeros, by `head -c N /dev/zero | gzip -9n | gzip -9n | base64`.
  private static let zeros: [Int: String] = [
    60_000_000: """
    H4sIAAAAAAACA+3cLU4DURSG4Ts/IQ2iHURVBV0CsmYSaqorQDddAGEJTNI0CAwJa0CjWAAodlBwhCAJIQhUYeCOZgM3eR519KffnP2LXojy
    4u0uy/6O5vLn5r23GwAAAAAAAACAxDVPqyLGAGHcbmbzYwAAAAAAAAAgdctBv+yigO1iNDUHAAAAAAAAACRvXU+q7kPA59lJaQ4AAAAAAAAA
    SN7w6/mwawEe2tu9I3sAAAAAAAAAQPIeV0UWW4Bxu5nNzQEAAAAAAAAAyVsO+mVsAZrtYjQ1BwAAAAAAAAAk77qeVLEFqF5P6/t8GID/feQH
    3zsv4fyq+AUXMKZlluMAAA==
    """,
    80_000_000: """
    H4sIAAAAAAACA+3dP2rCYBzH4cRkkA7+GZws1GO4CIaCSxcpdhYP4Ak6GAiC0KU36aIHKO3gDWw7eYDSwcFJmja5xQvPM73zd/7we2+emlGl
    kXy/xvH/I3/+fflpXkUAAAAAAAAAQODyzyKpYoBoUB4m0wcAAAAAAAAAIHSLdiuto4DLvJ+ZAwAAAAAAAACCtx4NO/WFgNNqmZoDAAAAAAAA
    AILXOx/HdQuwL3fdmT0AAAAAAAAAIHgfRRJXLcCgPEym5gAAAAAAAACA4C3arbRqAfLLvJ+ZAwAAAAAAAACCtx4NO/UnAafVMjUHAAAAAAAA
    AASvdz6O6xZgX+66M3sAAAAAAAAAQPC+ittG1QJk5fzxLQIAAIAwXaf327tNtH1P/wATl7eyYy8BAA==
    """,
  ]

  @Test func `what is compressed stays so, unless it is to be decoded`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "plain text").gzipped() }
    let request = try ClientSample.get(origin.url("/", host: "shop.test"))
    let client = try ClientSample.client()
    #expect(try await client.execute(request).body.collect(upTo: 1000).starts(with: [0x1F, 0x8B]))
    let decoding = RequestOptions(decompresses: true)
    #expect(try await client.execute(request, options: decoding).body.text() == "plain text")
    #expect(origin.requests[0].fields[.acceptEncoding] == nil)
    #expect(origin.requests[1].fields[.acceptEncoding]?.contains("gzip") == true)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `what stands behind compressed data is an error that says so`() async throws {
    var twice = OriginResponse(body: "plain text").gzipped()
    twice.body += twice.body
    let response = twice
    let origin = try await FakeOrigin.start { _ in response }
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      let request = try ClientSample.get(origin.url("/", host: "shop.test"))
      _ = try await client.execute(request, options: RequestOptions(decompresses: true)).body.text()
    }
    #expect(error?.code == .malformedResponse && error?.message.contains("follows what could be decompressed") == true)
    await client.shutdown()
    await origin.stop()
  }

  /// libcurl keeps at most 64 MB of what one read decodes to while its reader is behind; so says the page *Trust*.
  @Test func `what one read decodes to is kept up to 64 MB, and beyond is an error that says so`() async throws {
    let origin = try await FakeOrigin.start { request in
      let zeros = Int(request.path.dropFirst()).flatMap { Self.zeros[$0] } ?? ""
      let body = Data(base64Encoded: zeros, options: .ignoreUnknownCharacters) ?? Data()
      return OriginResponse(fields: [.contentEncoding: "gzip, gzip"], body: Array(body))
    }
    let client = try ClientSample.client { $0.decompresses = true }
    func count(_ size: Int) async throws -> Int {
      let response = try await client.execute(ClientSample.get(origin.url("/\(size)", host: "shop.test")))
      return try await response.body.reduce(0) { $0 + $1.count }
    }
    #expect(try await count(60_000_000) == 60_000_000)
    let error = await #expect(throws: DirectDNSError.self) { try await count(80_000_000) }
    #expect(error?.code == .bodyTooLarge)
    await client.shutdown()
    await origin.stop()
  }
}
