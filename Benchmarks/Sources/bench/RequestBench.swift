// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Load

/// Requests by the library.
struct RequestBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "request")

  @OptionGroup var row: RequestRow

  func run() async throws { try await row.measure(DirectClientRequester.init) }
}
