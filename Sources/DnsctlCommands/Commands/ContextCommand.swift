// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// A command that uses everything outside of the process through a context, so that tests can replace it.
package protocol ContextCommand: AsyncParsableCommand {
  func run(in context: CommandContext) async -> ExitStatus
}

extension ContextCommand {
  package func run() async throws {
    // None of these commands starts another program, which would inherit the limit.
    FileLimit.raise()
    CommandSignals.end(await run(in: .process()))
  }
}
