// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands
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

  @Test func `while the program runs signals are its own, but for those that it has from its terminal`() {
    var state = SignalRelay.State.running(7)
    for number in [SIGHUP, SIGINT, SIGTERM, SIGTERM, SIGUSR1] {
      #expect(state.take(number, from: .process, at: 0) == .goes(to: 7))
    }
    #expect(state.take(SIGHUP, from: .kernel, at: 0) == .goes(to: 7))
    #expect(state.take(SIGINT, from: .kernel, at: 0) == .nothing)
  }

  @Test func `those that came before the program are kept for it`() {
    var state = SignalRelay.State.beginning([])
    for number in [SIGTERM, SIGUSR1] { #expect(state.take(number, from: .process, at: 0) == .nothing) }
    #expect(state.take(SIGINT, from: .kernel, at: 0) == .nothing)
    guard case .beginning(let early) = state else { return #expect(Bool(false), "\(state)") }
    #expect(early == [SIGTERM, SIGUSR1])
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGTERM], [SignalListener.Sender.kernel, .process])
  func `once the program has ended a second request to end is heard`(number: Int32, sender: SignalListener.Sender) {
    var state = SignalRelay.State.ended(EndRequests())
    #expect(state.take(number, from: sender, at: 0) == .nothing)
    // As timeout(1) sends it once more.
    #expect(state.take(number, from: sender, at: 1) == .nothing)
    // What does not ask for an end was meant for the program.
    #expect(state.take(SIGUSR1, from: .process, at: EndRequests.together) == .nothing)
    #expect(state.take(number, from: sender, at: EndRequests.together) == .ends)
  }
}
