// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes

@testable import DirectDNS

/// A client whose names are pinned, and which may go to this machine.
enum ClientSample {
  /// So long that nothing but a failure brings the next address or the other family, however slow the machine is;
  /// tests of a race have a shorter one.
  static let attemptDelay = Duration.seconds(3600)

  static func client(
    names: [String: [String]] = ["shop.test": ["127.0.0.1"]], policy: AddressPolicy = .any,
    _ change: (inout DirectClientConfiguration) -> Void = { _ in }
  ) throws -> DirectClient {
    var resolving = ResolverConfiguration()
    for (name, addresses) in names {
      resolving.localZones.pins[try HostName(name)] = addresses.compactMap { IPAddress($0) }
    }
    var configuration = DirectClientConfiguration()
    configuration.policy = policy
    configuration.attemptDelay = attemptDelay
    change(&configuration)
    return try DirectClient(configuration, resolver: DirectResolver(resolving))
  }

  static func get(_ url: String, _ fields: HTTPFields = [:]) throws -> HTTPRequest {
    HTTPRequest(method: .get, url: try WebURL(url), headerFields: fields)
  }
}
