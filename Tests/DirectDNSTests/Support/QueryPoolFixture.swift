// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// A machine for the DNS requests to one server, in moved time, and its actions as words.
class QueryPoolFixture {
  static let addresses: [IPAddress] = [.ipv4(1), .ipv4(2), .ipv4(3)]
  var machine = QueryPoolMachine(.init(width: 3, connections: 2), isSerial: false, addresses: addresses)

  /// The actions since the last call, as words.
  func taken() -> [String] {
    (machine.actions.take() ?? []).map { action in
      switch action {
      case .begin(let id, let handle, let address, let sharing):
        "begin \(id.index) by \(handle) at \(address.map { "\($0)" } ?? "-")\(sharing == .own ? " alone" : "")"
      case .stop(let handle): "stop \(handle)"
      case .reply(let id, let handle): "reply \(id.index) from \(handle)"
      case .fail(let id, let error): "fail \(id.index) \(error)"
      case .leave(let id): "leave \(id.index)"
      case .forget(let id): "forget \(id.index)"
      case .endConnection(let port): "end connection \(port)"
      }
    }
  }

  @discardableResult
  func start(deadline: Int64 = 3_000, at now: Int64 = 0) -> QueryPoolMachine.QueryID {
    machine.start(deadline: deadline, at: now)
  }

  /// A handle's transfer opens a connection, and sends its query on it.
  func connect(_ handle: Int, port: Int32, isHTTP2: Bool = true, at now: Int64 = 1) -> Bool {
    machine.dialled(handle, at: now)
    return join(handle, port: port, isHTTP2: isHTTP2, at: now)
  }

  /// A handle's transfer has a connection that is there.
  func join(_ handle: Int, port: Int32, isHTTP2: Bool = true, at now: Int64 = 1) -> Bool {
    machine.connected(handle, port: port, isHTTP2: isHTTP2, at: now)
  }

  func reply(_ handle: Int, isHTTP2: Bool = true, at now: Int64 = 2) {
    machine.responded(handle)
    machine.ended(handle, .replied(isHTTP2: isHTTP2), at: now)
  }

  func order() -> [String] { machine.addresses.map { "\($0)" } }
}
