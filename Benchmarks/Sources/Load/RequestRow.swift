// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FoundationEssentials
import Glibc

/// Requests to one origin at a pinned address, so many in flight: the same by every client.
package struct RequestRow: ParsableArguments, Sendable {
  @Option var url: String
  /// What the URL's host resolves to.
  @Option var address = "127.0.0.1"
  @Option var ca: String?
  /// Not HTTP/2, even where the server has it.
  @Flag(name: .customLong("http1.1")) var isHTTP1 = false
  @Option var connections = 64
  @Option var count = 20_000
  @Option var inFlight = 64
  /// Requests beforehand that are not counted: connections are made, and their windows have grown.
  @Option var warmUp = 2000
  /// How long every body is.
  @Option var bytes: Int
  /// Whether the tasks run on the client's own thread, where it has one for them.
  @Flag var onLoop = false
  /// So many other requests are under way all the time, to a server that never answers them.
  @Option var idle = 0
  @Option(name: .customLong("silent-url")) var silentURL: String?

  package init() {}

  /// Measures a client, and ends the process's command.
  package func measure(_ make: (RequestSetting) throws -> any Requester) async throws {
    guard let host = URL(string: url)?.host() else { throw ValidationError("\(url) has no host") }
    let setting = RequestSetting(
      host: host, address: address, authority: ca, isHTTP1: isHTTP1, connections: max(connections, idle + 1))
    let requester = try make(setting)
    if let silentURL { try await Self.hold(idle, at: silentURL, with: requester) }
    let (url, bytes) = (url, bytes)
    let failed = await Load(inFlight: inFlight, executor: onLoop ? requester.executor : nil).measure(
      count, warmUp: warmUp
    ) { _ in
      let length = try await requester.bodyLength(url)
      if length != bytes { throw UnexpectedBody(length: length) }
    }
    // What is idle ends with the process.
    throw ExitCode(failed > 0 ? 1 : 0)
  }

  /// Starts requests that are never answered, and waits until the server has all of them.
  private static func hold(_ count: Int, at server: String, with requester: any Requester) async throws {
    // Those of the program before are still being closed.
    try await waitUntilHeld(0, at: server, with: requester)
    for _ in 0..<count {
      Task {
        do {
          _ = try await requester.bodyLength(server + "/wait")
          print("an idle request was answered")
        } catch {
          print("an idle request ended: \(error)")
        }
        _exit(1)
      }
    }
    try await waitUntilHeld(count, at: server, with: requester)
  }

  private static func waitUntilHeld(_ count: Int, at server: String, with requester: any Requester) async throws {
    while try await requester.body(server + "/held") != Array(String(count).utf8) {
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

struct UnexpectedBody: Error { let length: Int }
