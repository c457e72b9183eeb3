// SPDX-License-Identifier: Apache-2.0
import Testing

/// The body of an exit test, which has a process of its own.
enum OwnProcess {
  /// Runs `body`, and records the error that it throws.
  ///
  /// Of an error that nobody catches the parent learns only that a trap ended the process; issues it is told.
  static func run(_ body: () async throws -> Void) async {
    do { try await body() } catch { Issue.record(error) }
  }
}
