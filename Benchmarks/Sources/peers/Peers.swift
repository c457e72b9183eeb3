// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Load

/// The same requests by the clients that people would use instead.
@main
struct Peers: AsyncParsableCommand {
  enum Client: String, ExpressibleByArgument {
    case asyncHTTPClient = "async-http-client"
    case urlSession = "url-session"
  }

  @Option var by: Client
  @OptionGroup var row: RequestRow

  func run() async throws {
    try await row.measure { setting in
      switch by {
      case .asyncHTTPClient: AsyncHTTPClientRequester(setting)
      case .urlSession: URLSessionRequester(setting)
      }
    }
  }
}
