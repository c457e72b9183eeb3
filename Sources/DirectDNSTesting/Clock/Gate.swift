// SPDX-License-Identifier: Apache-2.0
/// A gate that is shut until a test opens it, which makes a server slow for exactly as long as the test wants.
///
/// ```swift
/// let gate = Gate()
/// let origin = try await FakeOrigin.start { _ in
///   try await gate.pass()
///   return OriginResponse(body: "at last")
/// }
/// // … start a request, see what the client does without an answer …
/// gate.open()
/// ```
public final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var arrived = 0
  }

  private let state = Watched(State())

  /// Creates a gate that is shut.
  public init() {}

  /// Lets through all tasks that wait, and all that come later.
  public func open() { state.change { $0.isOpen = true } }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, as a handler's task is when the client disconnects.
  public func pass() async throws {
    state.change { $0.arrived += 1 }
    await state.wait { $0.isOpen }
    try Task.checkCancellation()
  }

  /// The number of tasks that have come to the gate so far, whether they had to wait or not.
  public var arrivalCount: Int { state.read { $0.arrived } }

  /// Waits, without polling, until at least that many tasks have come to the gate.
  ///
  /// - Returns: whether they have; false if the task was cancelled before.
  @discardableResult
  public func waitForArrivals(_ count: Int = 1) async -> Bool { await state.wait { $0.arrived >= count } }
}
