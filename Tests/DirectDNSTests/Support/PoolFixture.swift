// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// A pool's machine in moved time, and its actions as words.
class PoolFixture {
  typealias Machine = PoolMachine<String>

  static let limits = PoolLimits(connections: 4, connectionsPerRoute: 2, streams: 2, attemptDelay: 250)
  let near = IPAddress.ipv4(1)
  let far = IPAddress.ipv4(2)

  var machine = Machine(limits)

  func terms(_ addresses: [IPAddress]? = nil, deadline: Int64 = 60_000, hasOthers: Bool = false)
    -> TransferTerms
  {
    TransferTerms(
      addresses: addresses ?? [near], hasOthers: hasOthers, isRetryable: true, connectTimeout: 5_000,
      firstByteTimeout: 30_000, deadline: deadline)
  }

  func taken() -> [String] {
    (machine.actions.take() ?? []).map { action in
      switch action {
      case .connect(let id, let attempt, let address, let waits):
        "connect \(id.index).\(attempt) \(address.map { "\($0)" } ?? "-")\(waits ? " waits" : "")"
      case .close(let id, let attempt): "close \(id.index).\(attempt)"
      case .askForOthers(let id): "ask \(id.index)"
      case .report(let id, let address, _): "failed \(id.index) \(address)"
      case .startOver(let id): "start over \(id.index)"
      case .checkRefusal(let id, let attempt): "refused? \(id.index).\(attempt)"
      case .resumeUpload(let id): "resume \(id.index)"
      case .checkUpload(let id): "check \(id.index)"
      case .end(let id, .success): "end \(id.index)"
      case .end(let id, .failure(let failure)): "fail \(id.index) \(failure.facts.reason)"
      case .endConnection(let socket): "end socket \(socket)"
      }
    }
  }

  func start(
    _ multiplexing: PoolLoad.Multiplexing = .never, _ route: String = "a", _ terms: TransferTerms? = nil
  ) -> Machine.TransferID {
    machine.start(terms ?? self.terms(), route, multiplexing, at: 0)
  }

  /// Opens a connection, and lets the request out on it.
  func connect(_ id: Machine.TransferID, _ socket: Int32, attempt: Int = 0) -> Machine.SendVerdict {
    let mayDial = machine.mayDial(id, attempt: attempt, at: 1)
    #expect(mayDial)
    machine.dialled(socket, id, attempt: attempt)
    return machine.maySend(id, attempt: attempt, at: 1)
  }

  var multiplexing: PoolLoad.Multiplexing? {
    machine.pools.ids.first.flatMap { machine.pools[$0]?.load.multiplexing }
  }
  var joins: Int? { machine.pools.ids.first.flatMap { machine.pools[$0]?.joins } }

  func mayDial(_ id: Machine.TransferID, attempt: Int = 0, at now: Int64 = 1) -> Bool {
    machine.mayDial(id, attempt: attempt, at: now)
  }
}

extension PoolMachine.SendVerdict {
  var isNo: Bool { if case .no = self { true } else { false } }
  var isAgain: Bool { if case .again = self { true } else { false } }
}
