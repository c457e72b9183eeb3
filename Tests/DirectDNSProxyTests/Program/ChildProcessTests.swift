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
    arguments: [
      ("tool", ["/open/tool": 0], .notExecutable("Permission denied")), ("tool", [:], .notFound),
      ("tool", ["/closed/tool": EACCES], .notSearched(folder: Array("/closed".utf8))),
      ("tool", ["/closed/tool": EACCES, "tool": 0], .notExecutable("Permission denied")),
      ("/closed/tool", ["/closed/tool": EACCES], .notExecutable("Permission denied")),
    ] as [(String, [String: Int32], ChildProcess.Failure)])
  func `a program that is in no folder of PATH was not found, also where one may not be searched`(
    program: String, files: [String: Int32], expected: ChildProcess.Failure
  ) {
    let path = SearchPath([Array("PATH=/closed:/open:".utf8)])
    let failure = ChildProcess.Failure(EACCES, of: Array(program.utf8), in: path) {
      files[String(decoding: $0, as: UTF8.self)] ?? ENOENT
    }
    #expect(failure == expected)
    #expect(failure.status == (expected == .notExecutable("Permission denied") ? 126 : 127))
    let message = failure.message(for: Array(program.utf8))
    #expect(message.contains("/closed") == (failure.status == 127 && !files.isEmpty || program.contains("/")))
  }

  @Test(
    arguments: [(ChildProcess.Ending.exited(0), 0), (.exited(255), 255), (.died(signal: 15), 143)]
      as [(ChildProcess.Ending, Int32)])
  func `a program's end is a status`(ending: ChildProcess.Ending, status: Int32) { #expect(ending.status == status) }

  @Test func `a program that was told to end has ended as wanted, and one that failed has not`() {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { #expect(ChildProcess.Ending.died(signal: signal).isWanted) }
    for signal in [SIGKILL, SIGSEGV, SIGABRT] { #expect(!ChildProcess.Ending.died(signal: signal).isWanted) }
    #expect(!ChildProcess.Ending.exited(0).isWanted && !ChildProcess.Ending.exited(143).isWanted)
  }

  @Test func `an end of which nobody tells is an error, and never success`() {
    // The parent of this process is no child of it.
    let error = #expect(throws: ChildProcess.Failure.self) {
      try ChildProcess.Ending(of: getppid(), reapsAll: false, reaping: { _ = $0() }, stopped: { _ in })
    }
    #expect(error?.status == 125 && error?.message(for: Array("tool".utf8)).contains("not known") == true)
  }
}
