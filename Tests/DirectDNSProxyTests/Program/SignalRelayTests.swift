// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import dnsctl_proxy

@Suite("Which signals are a program's")
struct SignalRelayTests {
  @Test(
    arguments: [
      SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
      SIGABRT,
      SIGIO, SIGURG, SIGPROF, SIGVTALRM, SIGXCPU,
    ])
  func `a signal that means nothing to us is passed on`(number: Int32) {
    #expect(SignalRelay.passedOn.contains(number))
  }

  @Test(arguments: [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ, SIGCHLD, SIGKILL, SIGSTOP])
  func `one of a fault or a child of our own is not, and neither is one that cannot be caught`(number: Int32) {
    #expect(!SignalRelay.passedOn.contains(number))
  }

  #if os(Linux)
    @Test func `those of real time are passed on`() { #expect(SignalRelay.passedOn.contains { $0 == 64 }) }
  #endif
}
