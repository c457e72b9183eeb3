// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Lets output through until it is closed; what still runs then can write nothing more.
final class OutputGate: Sendable {
  private let state = Atomic<Bool>(false)

  var isClosed: Bool { state.load(ordering: .acquiring) }

  func close() { state.store(true, ordering: .releasing) }

  /// The same context, whose standard output and errors go through the gate.
  func guarding(_ context: CommandContext) -> CommandContext {
    var context = context
    context.output = Sink(gate: self, base: context.output)
    context.errors = Sink(gate: self, base: context.errors)
    return context
  }

  private struct Sink: OutputSink {
    let gate: OutputGate
    let base: any OutputSink

    func write(_ text: String) throws(StreamError) {
      try gate.check()
      try base.write(text)
    }

    func write(_ bytes: [UInt8]) throws(StreamError) {
      try gate.check()
      try base.write(bytes)
    }
  }

  /// A writer ends as if its reader had gone.
  private func check() throws(StreamError) {
    if isClosed { throw .closedPipe }
  }
}
