// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import dnsctl_proxy

@Suite("How a program begins and ends")
struct ChildProcessTests {
  @Test(arguments: [(ENOENT, 127), (EACCES, 126), (ENOEXEC, 126), (E2BIG, 126)] as [(Int32, Int32)])
  func `what cannot be started has the status that shells give it`(code: Int32, status: Int32) {
    #expect(ChildProcess.Failure(code).status == status)
  }

  @Test func `of a script that names nothing to read it, it is said how one does`() {
    #expect("\(ChildProcess.Failure(ENOEXEC))".contains("#!/bin/sh"))
    #expect(ChildProcess.Failure(EACCES) == .notExecutable("Permission denied"))
  }

  @Test(
    arguments: [(ChildProcess.Ending.exited(0), 0), (.exited(255), 255), (.died(signal: 15), 143)]
      as [(ChildProcess.Ending, Int32)])
  func `a program's end is a status`(ending: ChildProcess.Ending, status: Int32) { #expect(ending.status == status) }
}
