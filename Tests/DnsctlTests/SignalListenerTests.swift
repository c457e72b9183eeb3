// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands

/// By signals that nothing else here uses, and that do afterwards what they did: programs that other tests start inherit it.
@Suite(.serialized, .timeLimit(.minutes(1)))
final class SignalListenerTests {
  deinit { for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_DFL) } }

  @Test func `a signal is told to everyone who hears it, until they have ended`() async {
    let (told, tell) = AsyncStream.makeStream(of: String.self)
    var next = told.makeAsyncIterator()
    let first = SignalListener([SIGUSR1, SIGUSR2]) { tell.yield("first \($0 == SIGUSR1 ? 1 : 2)") }
    let second = SignalListener([SIGUSR2]) { _ in tell.yield("second 2") }
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
    let heard = SignalListener([SIGUSR1]) { tell.yield($0) }
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
    let heard = SignalListener([SIGUSR1, SIGUSR2]) { tell.yield($0) }
    #expect(heard.numbers == [SIGUSR2])
    kill(getpid(), SIGUSR1)
    kill(getpid(), SIGUSR2)
    #expect(await next.next() == SIGUSR2)
    heard.end()
  }
}
