// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS
@testable import DirectDNSTesting

/// A store that fails and hangs as it was told to, and remembers what it was asked.
final class ScriptedStore: FleetAnswerStore, NonBlocking {
  enum Call: Sendable, Hashable {
    case read([AddressQuestion])
    case write([AddressQuestion])
    case remove([AddressQuestion])
    case takeLease(AddressQuestion)
    case endLease(AddressQuestion)
  }

  private struct State: Sendable {
    var calls: [Call] = []
    var isFailing = false
    var failing: Set<Kind> = []
    var hanging: Set<Kind> = []
  }

  enum Kind: Sendable, Hashable { case reading, writing, leasing }

  let memory: MemoryAnswerStore
  private let state = Watched(State())

  init(clock: ManualClock) { memory = MemoryAnswerStore(clock: clock) }

  var name: String { "scripted" }
  static let error = DirectDNSError(.storeFailed, "The store is out of order.")

  var calls: [Call] { state.read { $0.calls } }
  var reads: Int { calls.count { if case .read = $0 { true } else { false } } }

  func fail(_ isFailing: Bool = true) {
    state.change { state in
      state.isFailing = isFailing
      state.failing = []
    }
  }
  func fail(only kinds: Kind...) { state.change { $0.failing = Set(kinds) } }
  func hang(_ kinds: Kind...) { state.change { $0.hanging = Set(kinds) } }
  /// Waits until there was such a call.
  func wait(for call: Call) async { await state.wait { $0.calls.contains(call) } }
  func wait(forReads count: Int) async {
    await state.wait { $0.calls.count { if case .read = $0 { true } else { false } } >= count }
  }

  private func begin(_ call: Call, _ kind: Kind) async throws(DirectDNSError) {
    state.change { $0.calls.append(call) }
    if state.read({ $0.hanging.contains(kind) }) { await state.wait { !$0.hanging.contains(kind) } }
    if state.read({ $0.isFailing || $0.failing.contains(kind) }) { throw Self.error }
  }

  func read(_ questions: [AddressQuestion]) async throws(DirectDNSError) -> [StoredAnswer] {
    try await begin(.read(questions), .reading)
    return memory.read(questions)
  }

  func write(_ answers: [StoredAnswer]) async throws(DirectDNSError) {
    try await begin(.write(answers.map(\.question)), .writing)
    memory.write(answers)
  }

  func remove(_ questions: [AddressQuestion]) async throws(DirectDNSError) {
    try await begin(.remove(questions), .writing)
    memory.remove(questions)
  }

  func removeAll() async throws(DirectDNSError) { memory.removeAll() }

  func visit(_ visit: @Sendable ([StoredAnswer]) async -> Bool) async throws(DirectDNSError) {
    await memory.visit(visit)
  }

  func takeLease(
    on question: AddressQuestion, holder: String, for duration: Duration
  ) async throws(DirectDNSError) -> Bool {
    try await begin(.takeLease(question), .leasing)
    return memory.takeLease(on: question, holder: holder, for: duration)
  }

  func endLease(on question: AddressQuestion, holder: String) async throws(DirectDNSError) {
    try await begin(.endLease(question), .leasing)
    memory.endLease(on: question, holder: holder)
  }
}
