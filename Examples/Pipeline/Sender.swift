// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes
import Logging
import ServiceLifecycle

/// A webhook on its way: `{"id": "7", "url": "https://…", "body": "…"}`.
struct Delivery: Codable, Sendable {
  var id: String
  var url: String
  var body: String
}

/// What became of it: a status, or why there is none.
struct Outcome: Codable, Sendable {
  var id: String
  var tries: Int
  var status: Int?
  var address: String?
  var error: String?
}

/// Sends deliveries, so many at a time, and tries again what may succeed later.
struct Sender: Service {
  let client: DirectClient
  let warmup: WarmupJob
  let deliveries: AsyncStream<Delivery>
  var width = 64
  var tries = 5
  private let logger = Logger(label: "pipeline.sender")

  init(client: DirectClient, warmup: WarmupJob, deliveries: AsyncStream<Delivery>) {
    self.client = client
    self.warmup = warmup
    self.deliveries = deliveries
  }

  func run() async throws {
    let report = try await warmup.ready
    logger.info("\(report.readiness.rawValue): \(report.summary)")
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      // From the signal on nothing is begun, and what was begun is ended.
      for await delivery in deliveries.cancelOnGracefulShutdown() {
        if running == width { await group.next() } else { running += 1 }
        group.addTask { write(await send(delivery)) }
      }
      logger.info("nothing more is begun; what is under way is ended")
    }
  }

  private func send(_ delivery: Delivery) async -> Outcome {
    var outcome = Outcome(id: delivery.id, tries: 0)
    while true {
      outcome.tries += 1
      guard let wait = await attempt(delivery, &outcome), outcome.tries < tries else { return outcome }
      // 0.1, 0.2, 0.4 s and so on, spread so that those who failed together do not come back together.
      let pause = Duration.milliseconds(100 << (outcome.tries - 1)) * Double.random(in: 0.5...1.5)
      try? await Task.sleep(for: max(pause, wait))
    }
  }

  /// Sends it once; if it may succeed later, the least time to wait, which is up to the receiver.
  private func attempt(_ delivery: Delivery, _ outcome: inout Outcome) async -> Duration? {
    do throws(DirectDNSError) {
      var request = HTTPRequest(method: .post, url: try WebURL(delivery.url))
      // The receiver knows a delivery by its id: sent twice, it counts once.
      if let name = HTTPField.Name("Webhook-Id") { request.headerFields[name] = delivery.id }
      let response = try await client.execute(
        request, body: .text(delivery.body, contentType: "application/json"),
        options: RequestOptions(isSafeToRetry: true))
      // Read to its end, so that the connection serves the next delivery.
      _ = try? await response.body.collect(upTo: 64 * 1024)
      (outcome.status, outcome.error) = (response.status.code, nil)
      outcome.address = response.connection.remoteAddress?.description
      guard response.status.kind == .serverError || response.status == .tooManyRequests else { return nil }
      return min(response.retryAfter ?? .zero, .seconds(30))
    } catch {
      (outcome.status, outcome.error) = (nil, error.description)
      return error.isTransient ? Duration.zero : nil
    }
  }

  private func write(_ outcome: Outcome) {
    let encoder = JSONEncoder()
    // Without it the order of the keys is another one in each process.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(outcome) else { return }
    FileHandle.standardOutput.write(line + Data("\n".utf8))
  }
}

extension AsyncStream<Delivery> {
  /// The lines of standard input, each read when it is wanted: a pipe's writer waits while deliveries do.
  static func standardInput() -> AsyncStream {
    // Reading blocks, which the threads that requests run on must not.
    let queue = DispatchQueue(label: "pipeline.input")
    let lines = InputLines()
    return AsyncStream {
      await withCheckedContinuation { next in
        queue.async { next.resume(returning: Delivery.read(lines)) }
      }
    }
  }
}

/// The lines of standard input, one thread's own.
///
/// Not by `readLine`, which holds a lock of the C library's while it waits: since glibc 2.41 a process does not end before it
/// has that lock.
private final class InputLines: @unchecked Sendable {
  private var bytes = Data()

  /// The next line; nil at the end of the input.
  func next() -> Data? {
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes = Data(bytes[(end + 1)...]) }
        return Data(bytes[..<end])
      }
      let more = FileHandle.standardInput.availableData
      guard !more.isEmpty else {
        defer { bytes = Data() }
        return bytes.isEmpty ? nil : bytes
      }
      bytes += more
    }
  }
}

extension Delivery {
  /// The next delivery; nothing at the end of the input.
  fileprivate static func read(_ lines: InputLines) -> Delivery? {
    while let line = lines.next() {
      do { return try JSONDecoder().decode(Delivery.self, from: line) } catch {
        // What stands there may be a secret.
        Logger(label: "pipeline.input").error("a line is no delivery: write {\"id\": …, \"url\": …, \"body\": …}")
      }
    }
    return nil
  }
}
