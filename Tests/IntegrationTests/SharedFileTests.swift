// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import Foundation
import Testing

/// Several processes on one file.
@Suite(.timeLimit(.minutes(1)))
struct SharedFileTests {
  @Test func `processes that make a file together and write to it lose nothing`() async throws {
    let path = try ServerFixture.newFolder("sqlite").appending(path: "new/answers.sqlite").path
    let members = try (0..<4).map { try Member("write", path, "member\($0)", "100") }
    for member in members { #expect(try await member.line() == "written\n") }
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path, busyTimeout: .seconds(10)))
    for member in 0..<4 {
      let questions = try (0..<100).map { AddressQuestion(try HostName("member\(member)-\($0).example.net"), .ipv4) }
      #expect(try await store.read(questions).count == 100)
    }
  }

  @Test func `a process that is killed while it writes leaves a file that works`() async throws {
    let path = try ServerFixture.newFolder("sqlite").appending(path: "answers.sqlite").path
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path, busyTimeout: .seconds(10)))
    for round in 0..<5 {
      let member = try Member("write", path, "round\(round)", "100000")
      let first = AddressQuestion(try HostName("round\(round)-0.example.net"), .ipv4)
      // The other process does not tell when it has written; the file does.
      while try await store.read([first]).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
      member.kill()
      #expect(try await store.read([first]).count == 1)
    }
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
  }
}
