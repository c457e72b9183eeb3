import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct WarmupGateTests {
  @Test func `everyone gets the first outcome, whenever they come`() async throws {
    let gate = WarmupGate()
    let waiters = (0..<5).map { _ in Task.immediate { try await gate.wait().names } }
    var report = WarmupReport(minimum: .all)
    report.names = 7
    gate.open(.success(report))
    gate.open(.failure(DirectDNSError(.shutDown, "too late")))
    for waiter in waiters { #expect(try await waiter.value == 7) }
    #expect(try await gate.wait().names == 7)
  }

  @Test func `who is cancelled waits no longer, and the others do`() async throws {
    let gate = WarmupGate()
    let other = Task.immediate { try await gate.wait() }
    let task = Task.immediate { () -> DirectDNSError.Code? in
      do throws(DirectDNSError) { _ = try await gate.wait() } catch { return error.code }
      return nil
    }
    task.cancel()
    #expect(await task.value == .cancelled)
    gate.open(.success(WarmupReport(minimum: .all)))
    _ = try await other.value
  }
}
