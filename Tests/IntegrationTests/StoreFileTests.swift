// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting
import Foundation
import Testing

/// The file that `dnsctl` leaves behind, in processes of their own.
@Suite(.timeLimit(.minutes(1)))
struct StoreFileTests {
  private func dnsctl(_ arguments: String...) async throws -> (status: Int32, output: String) {
    // A shell keeps the error text beside the output.
    let (status, output) = try await ServerFixture.run(
      "sh", ["-c", "exec \"$@\" 2>&1", "sh", ServerFixture.product("dnsctl").path] + arguments)
    return (status, String(decoding: output, as: UTF8.self))
  }

  @Test func `a copy of the file alone has all that a command stored, also while another process uses it`() async throws
  {
    var records = RecordTable()
    for number in 0..<20 { records.add("host-\(number).lab.test", "192.0.2.\(number)", ttl: 300) }
    let provider = try await FakeProvider.start(records: records)
    let names = (0..<20).map { "host-\($0).lab.test" }
    let questions = try names.map { AddressQuestion(try HostName($0), .ipv4) }
    for isShared in [false, true] {
      let folder = try ServerFixture.newFolder("copy")
      let (path, copy) = (folder.appending(path: "answers.sqlite").path, folder.appending(path: "copy.sqlite").path)
      let other = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
      if isShared { try await other.write([]) }
      let hosts = folder.appending(path: "hosts")
      try names.joined(separator: "\n").write(to: hosts, atomically: false, encoding: .utf8)
      let warmed = try await dnsctl(
        "warmup", "--provider", "json+\(provider.url("/resolve"))", "--no-system", "--family", "ipv4", "--store", path,
        "--hosts", hosts.path)
      #expect(warmed.status == 0, "\(warmed.output)")
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try await SQLiteAnswerStore(SQLiteStoreConfiguration(path: copy)).read(questions).count == 20)
      // What looks into the store does it, too.
      #expect(try await dnsctl("cache", "forget", names[0], "--store", path).status == 0)
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try await SQLiteAnswerStore(SQLiteStoreConfiguration(path: copy)).read(questions).count == 19)
      withExtendedLifetime(other) {}
    }
    await provider.stop()
  }
}
