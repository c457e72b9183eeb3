// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AsyncHTTPClient
import DirectDNS
import DirectDNSAsyncHTTPClient
import NIOCore
import NIOSSL

/// Fetches URLs, each straight from an address of its name.
@main
struct Fetch: AsyncParsableCommand {
  @Option(help: "A file of certificate authorities to trust besides (PEM).")
  var ca: String?

  @Option(help: ArgumentHelp("A fixed address of a name.", valueName: "name=ip"), transform: Pin.init)
  var pin: [Pin] = []

  @Option(
    help: ArgumentHelp("A network that may be connected to besides public addresses.", valueName: "cidr"),
    transform: network)
  var allow: [IPNetwork] = []

  @Argument(help: ArgumentHelp("What to fetch.", valueName: "url"))
  var urls: [String]

  func run() async throws {
    var lookups = ResolverConfiguration()
    for pin in pin { lookups.localZones.pins[pin.name, default: []].append(pin.address) }
    let resolver = try DirectResolver(lookups)
    defer { resolver.shutdown() }

    var tls = TLSConfiguration.makeClientConfiguration()
    if let ca { tls.additionalTrustRoots = [.file(ca)] }
    let client = DirectHTTPClient(
      resolver: resolver, policy: AddressPolicy(.publicOnly, allowedNetworks: allow),
      configuration: .init(tlsConfiguration: tls))

    do {
      for url in urls { try await show(url, by: client) }
    } catch {
      await client.shutdown()
      throw error
    }
    await client.shutdown()
  }

  private func show(_ url: String, by client: DirectHTTPClient) async throws {
    let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
    print(response.status.code, url)
    print(String(buffer: try await response.body.collect(upTo: 1 << 20)), terminator: "")
  }

  private static func network(_ text: String) throws -> IPNetwork {
    guard let network = IPNetwork(text) else { throw ValidationError("\"\(text)\" is not a network.") }
    return network
  }
}

/// A name and an address that it is said to have.
struct Pin {
  let name: HostName
  let address: IPAddress

  init(_ text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let address = IPAddress(parts[1]) else {
      throw ValidationError("\"\(text)\" is no NAME=IP.")
    }
    name = try HostName(parts[0])
    self.address = address
  }
}
