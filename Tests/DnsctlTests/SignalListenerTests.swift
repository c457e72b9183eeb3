// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands

/// By signals that nothing else here uses, and that do afterwards what they did: programs that other tests start inherit it.
@Suite(.serialized, .timeLimit(.minutes(1)))
final class SignalListenerTests {
  deinit { for number in [SIGUSR1, SIGUSR2, SIGALRM] { signal(number, SIG_DFL) } }

  @Test func `a signal is told to everyone who hears it, until they have ended`() async {
    let (told, tell) = AsyncStream.makeStream(of: String.self)
    var next = told.makeAsyncIterator()
    let first = SignalListener([SIGUSR1, SIGUSR2]) { number, _ in tell.yield("first \(number == SIGUSR1 ? 1 : 2)") }
    let second = SignalListener([SIGUSR2]) { _, _ in tell.yield("second 2") }
    #expect(first.numbers == [SIGUSR1, SIGUSR2] && second.numbers == [SIGUSR2])
    kill(getpid(), SIGUSR1)
    #expect(await next.next() == "first 1")
    kill(getpid(), SIGUSR2)
    #expect(await [next.next(), next.next()] == ["first 2", "second 2"])
    first.end()
    kill(getpid(), SIGUSR2)
    #expect(await next.next() == "second 2")
    second.end()
  }

  @Test func `a signal that somebody has given another meaning is heard again`() async {
    let (told, tell) = AsyncStream.makeStream(of: Int32.self)
    var next = told.makeAsyncIterator()
    let heard = SignalListener([SIGUSR1]) { number, _ in tell.yield(number) }
    signal(SIGUSR1, SIG_DFL)
    SignalListener.listenAgain(SIGUSR1)
    kill(getpid(), SIGUSR1)
    #expect(await next.next() == SIGUSR1)
    heard.end()
  }

  @Test func `a signal to which whoever started us made us deaf stays unheard`() async {
    let (told, tell) = AsyncStream.makeStream(of: Int32.self)
    var next = told.makeAsyncIterator()
    signal(SIGUSR1, SIG_IGN)
    let heard = SignalListener([SIGUSR1, SIGUSR2]) { number, _ in tell.yield(number) }
    #expect(heard.numbers == [SIGUSR2])
    kill(getpid(), SIGUSR1)
    kill(getpid(), SIGUSR2)
    #expect(await next.next() == SIGUSR2)
    heard.end()
  }

  @Test func `what the kernel sends by itself is told from what a process sends`() async {
    let (told, tell) = AsyncStream.makeStream(of: SignalListener.Sender.self)
    var next = told.makeAsyncIterator()
    let heard = SignalListener([SIGALRM]) { _, sender in tell.yield(sender) }
    kill(getpid(), SIGALRM)
    #expect(await next.next() == .process)
    var once = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 0, tv_usec: 1))
    #if canImport(Darwin)
      setitimer(ITIMER_REAL, &once, nil)
    #else
      unsafe setitimer(Int32(ITIMER_REAL.rawValue), &once, nil)
    #endif
    #expect(await next.next() == .kernel)
    heard.end()
  }

  /// In the middle of it the thread may hold a lock of Swift's runtime.
  @Test func `what is done when a signal comes is not interrupted by another`() {
    let heard = SignalListener([SIGUSR1]) { _, _ in }
    var action = sigaction()
    #expect(unsafe sigaction(SIGUSR1, nil, &action) == 0)
    for number in [SIGUSR2, SIGINT, SIGTERM] { #expect(unsafe sigismember(&action.sa_mask, number) == 1) }
    heard.end()
  }

  @Test func `of signals that came together the one to go on is told last`() {
    #expect(SignalListener.order.sorted() == Array(1...64) && SignalListener.order.last == SIGCONT)
  }
}
