// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// A command that sees the world through a context, so that tests can give it one.
package protocol ContextCommand: AsyncParsableCommand {
  func run(in context: CommandContext) async -> ExitStatus
}

extension ContextCommand {
  package func run() async throws {
    // None of these starts another program, which would inherit it.
    FileLimit.raise()
    CommandSignals.end(await run(in: .process()))
  }
}
