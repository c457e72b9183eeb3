// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes

/// Sends a GET for the URL that is given, and prints how it went.
@main
struct Send {
  static func main() async {
    do {
      let url = try WebURL(CommandLine.arguments.dropFirst().first ?? "https://www.example.com/")
      // Without a configuration: public addresses only, 5 s to connect, 120 s for the whole of it.
      let client = try DirectClient()

      let response = try await client.execute(HTTPRequest(url: url))
      print(
        response.status, response.connection.remoteAddress as Any, response.freshness as Any, response.timings.total)
      for hop in response.hops { print("  by way of", hop.url, hop.head.status) }
      for try await piece in response.body { print(piece.count, "bytes") }
      await client.shutdown()
    } catch {
      FileHandle.standardError.write(Data("Send: \(error)\n".utf8))
      exit(1)
    }
  }
}
