// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import DnsctlCommands
@testable import dnsctl_proxy

@Suite("How a running proxy ends", .timeLimit(.minutes(1)))
struct ProxyEndingTests {
  /// Signals that a test sends.
  private func signals() -> (ProxyEnding, AsyncStream<Int32>.Continuation) {
    let (signals, send) = AsyncStream.makeStream(of: Int32.self)
    return (ProxyEnding(signals), send)
  }

  @Test func `a second signal cuts off what the first waits for, and the log is written before it ends the process`()
    async
  {
    let (ending, send) = signals()
    send.yield(15)
    await ending.begins()
    let (steps, step) = AsyncStream.makeStream(of: String.self)
    let (never, unused) = AsyncStream.makeStream(of: Void.self)
    await ending.stop(
      {
        send.yield(2)
        // Ends when its task is cancelled.
        for await _ in never {}
        step.yield("cut off")
      }, { step.yield("logged") }, end: { step.yield("ended by \($0)") })
    // It must not come back before: the process would end with 0.
    step.finish()
    var seen: [String] = []
    for await step in steps { seen.append(step) }
    #expect(seen == ["cut off", "logged", "ended by 2"])
    withExtendedLifetime(unused) {}
  }

  @Test func `one signal ends it in order`() async {
    let (ending, send) = signals()
    send.yield(15)
    await ending.begins()
    let steps = Mutex<[String]>([])
    await ending.stop(
      { steps.withLock { $0.append(Task.isCancelled ? "cut off" : "stopped") } },
      { steps.withLock { $0.append("logged") } }, end: { _ in steps.withLock { $0.append("ended") } })
    #expect(steps.withLock(\.self) == ["stopped", "logged"])
    // Whoever waits for the second signal would wait for good.
    send.finish()
  }
}
