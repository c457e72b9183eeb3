// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import DirectDNS
import DirectDNSConfiguration
import DirectDNSPrometheus
import DirectDNSSQLite
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// A webhook sender to begin a pipeline from: deliveries come in as lines of JSON, results go out as such.
///
///     Pipeline CONFIG HOSTS STORE [METRICS-PORT] <deliveries.jsonl >results.jsonl
///
/// It warms up before it sends, sends while DNS is dead, goes by its configuration file as that changes, and on SIGTERM
/// ends what it has begun. Everything that is not about webhooks is in this file.
@main
struct Pipeline {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let port = arguments.count == 4 ? UInt16(arguments[3]) : 0
    guard arguments.count == 3 || arguments.count == 4, let port else {
      end(64, "usage: Pipeline CONFIG HOSTS STORE [METRICS-PORT]")
    }
    do {
      try await run(configuration: arguments[0], hosts: arguments[1], store: arguments[2], metrics: port)
    } catch let error as DirectDNSError where error.code == .invalidConfiguration {
      end(78, "Pipeline: \(error)")
    } catch {
      // Left to Swift, an error that leaves main ends the process as a crash does.
      end(1, "Pipeline: \(error)")
    }
  }

  /// Says why, and ends.
  private static func end(_ status: Int32, _ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
  }

  private static func run(configuration: String, hosts: String, store: String, metrics port: UInt16) async throws {
    // Logs and metrics come first: what is made afterwards finds them there.
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    let registry = PrometheusRegistry()
    MetricsSystem.bootstrap(registry)
    let endpoint = try MetricsEndpoint(registry, MetricsEndpointConfiguration(port: port))

    // Providers, pins, policy and the switch are the file's, now and whenever it changes; the store is ours.
    let live = try LiveConfiguration(path: configuration)
    let resolver = try live.makeResolver {
      $0.store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: store))
    }
    let client = try live.makeClient(resolver: resolver) {
      $0.timeouts.total = .seconds(30)
      $0.redirects = nil  // A webhook's receiver has no business sending its payload elsewhere.
    }

    // All names before the first request. With every provider dead it begins with what is stored, and says so.
    var plan = WarmupPlan(file: hosts)
    plan.timeout = .seconds(20)
    plan.minimum = .share(0.95)
    plan.keepAlive = .all
    let warmup = try WarmupJob(plan, resolver: resolver)
    let sender = Sender(client: client, warmup: warmup, deliveries: .standardInput())

    // In the order of starting; they end in reverse, the sender first. When it is done, all are.
    let logger = Logger(label: "pipeline")
    try await ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: live), .init(service: endpoint), .init(service: warmup), .init(service: client),
          .init(service: sender, successTerminationBehavior: .gracefullyShutdownGroup),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    ).run()
    let flushed = await resolver.shutdown(flushingWithin: DirectResolver.flushLimit)
    if flushed.unwritten > 0 { logger.warning("\(flushed.unwritten) answers were not stored") }
  }
}
