// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes

/// A web shop on this machine, which calls itself by its address.
struct Shop {
  static let host = "shop.example.test"
  static let address = "127.0.0.1"
  /// The range that its address lies in.
  static let network = "127.0.0.0/8"

  let origin: FakeOrigin

  init() async throws {
    origin = try await .start { request in
      guard request.path == "/cart" else { return OriginResponse(body: "Thank you.") }
      let port = request.host?.split(separator: ":").last ?? "80"
      let fields: HTTPFields = [
        .location: "http://\(Self.address):\(port)/paid", .setCookie: "basket=7; Domain=\(Self.address)",
      ]
      return OriginResponse(.found, fields: fields)
    }
  }

  /// The URL of a path, by name.
  func url(_ path: String, host: String = Self.host) -> String { origin.url(path, host: host) }
}
