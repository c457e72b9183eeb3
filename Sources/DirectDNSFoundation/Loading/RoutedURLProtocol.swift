// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The protocol for the sessions of one configuration.
///
/// Foundation makes protocols by their class alone and tells them nothing of their session: only a class of its own can
/// tell one session's tasks from another's. Swift makes classes at run time by filling in a parameter, and here that is
/// the number of the route, spelled in types.
final class RoutedURLProtocol<Number: RouteNumber>: DirectURLProtocol {
  override class var route: LoadingRoute { RouteTable.shared[Number.value] }
}

/// Every route there is; a route stays, since nobody tells when the last session that may ask for it has gone.
final class RouteTable: Sendable {
  static let shared = RouteTable()
  private let routes = Locked<[LoadingRoute]>([])

  subscript(number: Int) -> LoadingRoute { routes.withLock { $0[number] } }

  /// A class that stands for this route and no other.
  func makeClass(for route: LoadingRoute) -> DirectURLProtocol.Type {
    let number = routes.withLock { routes in
      routes.append(route)
      return routes.count - 1
    }
    return Self.makeClass(Self.type(of: number))
  }

  private static func makeClass<Number: RouteNumber>(_ number: Number.Type) -> DirectURLProtocol.Type {
    RoutedURLProtocol<Number>.self
  }

  private static func type(of number: Int) -> any RouteNumber.Type {
    guard number > 0 else { return NoDigits.self }
    let rest = type(of: number >> 1)
    return append(number & 1, to: rest)
  }

  private static func append<Rest: RouteNumber>(_ digit: Int, to rest: Rest.Type) -> any RouteNumber.Type {
    digit == 0 ? Zero<Rest>.self : One<Rest>.self
  }
}

/// A number as a type: its binary digits, the last one outside.
protocol RouteNumber {
  static var value: Int { get }
}

enum NoDigits: RouteNumber {
  static var value: Int { 0 }
}

enum Zero<Rest: RouteNumber>: RouteNumber {
  static var value: Int { Rest.value << 1 }
}

enum One<Rest: RouteNumber>: RouteNumber {
  static var value: Int { Rest.value << 1 | 1 }
}
