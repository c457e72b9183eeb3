// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

@Suite struct FilePathsTests {
  @Test func `a file that is not there is nothing, and one that cannot be read an error`() throws {
    #expect(try readWholeFile("/nonexistent/file") == nil)
    #expect(throws: StreamError.failed("Is a directory")) { try readWholeFile("/") }
    #expect(throws: StreamError.failed("it is longer than 256 MiB")) { try readWholeFile("/dev/zero") }
    #expect(throws: StreamError.failed("its name has a NUL in it, where the system ends names")) {
      try readWholeFile("/dev/null\0")
    }
  }
}
