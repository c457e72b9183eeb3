// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

@Suite("Bodies that are received into files", .timeLimit(.minutes(1)))
struct ReceivedFileTests {
  private let folder: FileFolder
  init() throws { folder = try FileFolder() }

  /// Writes a body to the file `it`, and gives what came of it.
  private func write(
    _ response: OriginResponse, upTo limit: Int = 1 << 20, to name: String = "it"
  ) async throws -> Result<Int, DirectDNSError> {
    let origin = try await FakeOrigin.start { _ in response }
    let client = try ClientSample.client()
    let body = try await client.get(origin.url("/", host: "shop.test")).body
    let result: Result<Int, DirectDNSError>
    do throws(DirectDNSError) {
      result = .success(try await body.write(toFile: folder / name, upTo: limit))
    } catch { result = .failure(error) }
    await client.shutdown()
    await origin.stop()
    return result
  }

  private func code(_ result: Result<Int, DirectDNSError>) -> DirectDNSError.Code? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  @Test(arguments: [0, 1, 700_000]) func `a body is written whole, up to the limit`(_ count: Int) async throws {
    #expect(try await write(OriginResponse(generating: count), upTo: count).get() == count)
    #expect(try FileManager.default.attributesOfItem(atPath: folder / "it")[.size] as? Int == count)
    // Foundation loses the memory with which it reads an empty file.
    if count > 0 { #expect(try [UInt8](Data(contentsOf: URL(filePath: folder / "it"))) == GeneratedBody.bytes(count)) }
    #expect(try folder.names == ["it"])
  }

  @Test func `a file that is there is replaced and keeps its permissions`() async throws {
    try folder.write("an old and longer text", to: "it", mode: 0o640)
    #expect(try await write(OriginResponse(body: "new")).get() == 3)
    #expect(try folder.read("it") == "new" && folder.kind("it") & 0o777 == 0o640)
    #expect(try folder.names == ["it"])
  }

  @Test(arguments: [false, true])
  func `of a body that is too long nothing stays, and what was there does`(_ isThere: Bool) async throws {
    if isThere { try folder.write("old", to: "it") }
    let result = try await write(OriginResponse(generating: 100_000), upTo: 99_999)
    #expect(code(result) == .bodyTooLarge)
    #expect(try folder.names == (isThere ? ["it"] : []))
    if isThere { #expect(try folder.read("it") == "old") }
  }

  @Test func `of a body that breaks off nothing stays`() async throws {
    let response = OriginResponse(length: 10) { body in
      try await body.write("early")
      throw OriginFault.close
    }
    let result = try await write(response)
    #expect(code(result) == .connectionLost)
    #expect(try folder.names.isEmpty)
  }

  @Test func `what is no regular file or has two names is not written, and the body can still be read`() async throws {
    try folder.write("old", to: "target")
    let manager = FileManager.default
    try manager.createSymbolicLink(atPath: folder / "link", withDestinationPath: folder / "target")
    try manager.createDirectory(atPath: folder / "folder", withIntermediateDirectories: false)
    close(folder.makeFIFO("fifo"))
    try folder.write("two", to: "first")
    try manager.linkItem(atPath: folder / "first", toPath: folder / "second")
    let names = try folder.names
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "new") }
    let client = try ClientSample.client()
    for name in ["link", "folder", "fifo", "first", "nowhere/it", "folder/"] {
      let body = try await client.get(origin.url("/", host: "shop.test")).body
      let error = await #expect(throws: DirectDNSError.self) {
        try await body.write(toFile: folder / name, upTo: 100)
      }
      #expect(error?.code == .fileUnusable && error?.message.contains(folder / name) == true)
      #expect(error?.mayHaveReachedServer == true)
      #expect(try await body.text() == "new")
    }
    #expect(try folder.names == names && folder.read("target") == "old" && folder.read("first") == "two")
    await client.shutdown()
    await origin.stop()
  }

  @Test func `an empty path is refused before anything is received`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "new") }
    let client = try ClientSample.client()
    let body = try await client.get(origin.url("/", host: "shop.test")).body
    let error = await #expect(throws: DirectDNSError.self) { try await body.write(toFile: "", upTo: 100) }
    #expect(error?.code == .fileUnusable && error?.message.contains("its path is empty") == true)
    #expect(try await body.text() == "new")
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a second reader gets an error and leaves no file, and the first one gets the body`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await gate.pass()
        try await body.write("late")
      }
    }
    let client = try ClientSample.client()
    let body = try await client.get(origin.url("/", host: "shop.test")).body
    // One of them waits; which of them came first does not matter.
    let readers = [folder / "a", folder / "b"].map { path in Task { try await body.write(toFile: path, upTo: 100) } }
    let results = await withTaskGroup(of: Result<Int, any Error>.self) { group in
      for reader in readers { group.addTask { await reader.result } }
      let first = await group.next()
      gate.open()
      return (first, await group.next())
    }
    guard case .failure(let error as DirectDNSError)? = results.0, case .success(4)? = results.1 else {
      Issue.record("\(results)")
      return
    }
    #expect(error.code == .invalidRequest)
    let names = try folder.names
    #expect(names == ["a"] || names == ["b"])
    #expect(try names.map(folder.read) == ["late"])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a reader that is cancelled leaves no file`() async throws {
    let gate = Gate()
    let origin = try await FakeOrigin.start { _ in
      OriginResponse { body in
        try await body.write("early")
        try await gate.pass()
      }
    }
    let client = try ClientSample.client()
    let body = try await client.get(origin.url("/", host: "shop.test")).body
    let path = folder / "it"
    let reader = Task { try await body.write(toFile: path, upTo: 100) }
    #expect(await gate.waitForArrivals())
    reader.cancel()
    let error = await #expect(throws: DirectDNSError.self) { try await reader.value }
    #expect(error?.code == .cancelled)
    #expect(try folder.names.isEmpty)
    gate.open()
    await client.shutdown()
    await origin.stop()
  }
}
