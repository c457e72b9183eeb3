// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// A command that works on a store.
protocol StoreCommand: ContextCommand {
  var options: StoreOptions { get }

  /// Whether the store's file is created if it is missing.
  static var makesFile: Bool { get }

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus
}

extension StoreCommand {
  static var fullName: String { "cache \(configuration.commandName ?? "")" }

  static var makesFile: Bool { false }

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let settings = try context.settings(
      file: options.configurationPath, SettingsOverrides(store: try context.storeText(options.text)))
    let store = try OpenStore(settings, in: context, makesFile: Self.makesFile)
    let status = try await run(store, in: context)
    await store.store.checkpoint()
    return status
  }
}

extension CommandContext {
  /// Writes to standard output.
  func print(_ text: String) throws(CommandError) {
    guard !text.isEmpty else { return }
    do throws(StreamError) { try output.write(text) } catch { throw CommandError(error) }
  }
}
