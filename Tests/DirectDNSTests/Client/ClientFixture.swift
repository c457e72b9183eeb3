// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes

@testable import DirectDNS

/// A client that finds its addresses as in life: by a resolver, at a provider, which is a fake one.
struct ClientFixture: Sendable {
  let provider: FakeProvider
  let client: DirectClient
  var resolver: DirectResolver { client.resolver }

  init(
    records: RecordTable = RecordTable(), clock: any ResolverClock = SystemClock(), policy: AddressPolicy = .any,
    store: (any AnswerStore)? = nil, _ change: (inout DirectClientConfiguration) -> Void = { _ in }
  ) async throws {
    provider = try await FakeProvider.start(records: records)
    var resolving = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: JSONProvider(name: "fake", url: try WebURL(provider.url("/resolve"))))
    ])
    resolving.usesSystemDNS = false
    resolving.timeout = .seconds(20)
    resolving.store = store
    var configuration = DirectClientConfiguration()
    configuration.policy = policy
    configuration.attemptDelay = ClientSample.attemptDelay
    change(&configuration)
    client = try DirectClient(configuration, resolver: DirectResolver(resolving, clock: clock))
  }

  func stop() async {
    await client.shutdown(within: .zero)
    resolver.shutdown()
    await provider.stop()
  }
}

/// Several servers with one port, on an address each.
enum OriginGroup {
  static func start(
    _ addresses: [String], identity: TLSIdentity? = nil,
    handler: @escaping FakeOrigin.Handler = OriginResponse.echo
  ) async throws -> [FakeOrigin] {
    for _ in 0..<20 {
      var origins: [FakeOrigin] = []
      do {
        for address in addresses {
          let configuration = FakeOriginConfiguration(
            identity: identity, address: Sample.address(address), port: origins.first?.port ?? 0)
          origins.append(try await FakeOrigin.start(configuration: configuration, handler: handler))
        }
        return origins
      } catch {
        // Somebody else has that port on one of the addresses.
        for origin in origins { await origin.stop() }
      }
    }
    throw DirectDNSError(.connectFailed, "no port is free on all of \(addresses)")
  }
}

/// What a request's observer was told.
final class RequestLog: Sendable {
  private struct State {
    var dialled: [String] = []
    var failed: [String] = []
    var retries = 0
  }

  private let state = Locked(State())

  var options: RequestOptions {
    RequestOptions(observer: { [self] event in
      state.withLock { state in
        switch event {
        case .connecting(let address): state.dialled.append(address.description)
        case .connectFailed(let address, _): state.failed.append(address.description)
        case .retrying: state.retries += 1
        default: break
        }
      }
    })
  }

  /// The addresses that were connected to, in order.
  var dialled: [String] { state.withLock { $0.dialled } }
  var failed: [String] { state.withLock { $0.failed } }
  var retries: Int { state.withLock { $0.retries } }
}
