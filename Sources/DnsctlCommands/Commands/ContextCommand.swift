// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// A command that uses everything outside of the process through a context, so that tests can replace it.
package protocol ContextCommand: AsyncParsableCommand {
  /// Its name behind `dnsctl`, by which its help is found.
  static var fullName: String { get }

  /// Runs it; what it throws is reported, with its status.
  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus
}

extension ContextCommand {
  package static var fullName: String { configuration.commandName ?? "" }

  /// Runs it, and reports what it throws.
  package func status(in context: CommandContext) async -> ExitStatus {
    do throws(CommandError) { return try await run(in: context) } catch {
      return error.status(in: context, of: Self.fullName)
    }
  }

  package func run() async throws {
    // None of these commands starts another program, which would inherit the limit.
    FileLimit.raise()
    CommandSignals.end(await status(in: .process()))
  }
}
